// Package pipe reads and writes non-blocking pipes with little overhead. On Linux, it bypasses the
// Go scheduler for system calls that cannot block. With regular system calls, the scheduler would
// switch to another thread and back for each message. For a file that other processes also have
// open, use a [Shared].
//
//	in := pipe.New(pipe.Reopen(os.Stdin))
package pipe
