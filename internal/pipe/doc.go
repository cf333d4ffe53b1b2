// Package pipe reads and writes non-blocking pipes with little overhead. It bypasses the Go
// scheduler for system calls that cannot block. Otherwise, the scheduler would switch to another
// thread and back for each message. For a file that other processes also have open, use a [Shared].
//
//	in := pipe.New(pipe.Reopen(os.Stdin))
package pipe
