package foreign

// Getpid asks for the process id as a 32-bit program would.
func Getpid() int32
