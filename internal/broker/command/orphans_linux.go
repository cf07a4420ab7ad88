package command

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// killOrphans ends what a supervisor that was killed itself has left. The room is a
// subreaper, so all of it has become a child of this process, or soon will. leader is the
// command, which died with the supervisor and is waited for by nobody else; 0 when it was not started.
func killOrphans(leader int) {
	dying := make(map[int]bool)
	if leader > 0 {
		dying[leader] = true
	}
	const settled = 25 // rounds: a process lets go of its descriptors before its children come here
	for round := range 500 {
		left := orphans()
		for _, pid := range left {
			_ = unix.Kill(pid, unix.SIGKILL) // it may have ended by itself
			dying[pid] = true
		}
		for pid := range dying {
			if got, err := unix.Wait4(pid, nil, unix.WNOHANG, nil); got == pid || err == unix.ECHILD && round > settled {
				delete(dying, pid)
			}
		}
		if len(left)+len(dying) == 0 && round > settled {
			return
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// orphans lists the children of this process that run and are confined as commands are.
// Supervisors are not confined, and workers are this very program; other children are an embedder's.
func orphans() (found []int) {
	me := os.Getpid()
	own, _ := os.Readlink(self) // always there
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		b, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		pid, parent, ended := parseStat(string(b))
		if parent != me || ended || !confined(pid) {
			continue
		}
		if exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid)); err == nil && exe != own {
			found = append(found, pid)
		}
	}
	return found
}

// confined says whether a process has no_new_privs and a filter of its own beyond this process's.
func confined(pid int) bool {
	theirs, mine := statusOf(fmt.Sprint(pid)), statusOf("self")
	return theirs["NoNewPrivs"] == "1" && theirs["Seccomp"] == "2" && theirs["Seccomp_filters"] != mine["Seccomp_filters"]
}

func statusOf(pid string) map[string]string {
	text, _ := os.ReadFile("/proc/" + pid + "/status") // gone: nothing is said of it
	fields := make(map[string]string)
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(line, ":"); ok {
			fields[name] = strings.TrimSpace(value)
		}
	}
	return fields
}
