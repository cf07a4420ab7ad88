// Package foreign makes system calls in the way of another architecture. The
// sandbox's tests use it to see that doing so is the end of a worker; nothing
// else imports it.
package foreign
