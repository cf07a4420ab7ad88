package runner

import "toolroom/tool"

// culprit is a code whose call had to be ended with its worker. Versions are marked in the store by
// OnKilled; what is run once and not kept has only this memory of the runner's.
type culprit struct {
	place tool.Place
	key   string
}

// maxCulprits is how many are remembered; then all are forgotten, which costs a kill each.
const maxCulprits = 10_000

// convict has c's code run alone from now on.
func (r *Runner) convict(c *call) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.culprits) >= maxCulprits {
		clear(r.culprits)
	}
	r.culprits[culprit{c.job.Place, c.job.Key}] = struct{}{}
}

// alone says whether job shares its worker with nobody.
func (r *Runner) alone(job *Job) bool {
	if job.Solo {
		return true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	_, known := r.culprits[culprit{job.Place, job.Key}]
	return known
}
