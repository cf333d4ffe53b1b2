// Package pipe reads and writes non-blocking pipes with little overhead. For system calls that
// cannot block, it bypasses the Go scheduler, which would otherwise hand the processor to another
// thread and back for each message. For a file that other processes also have open, use a [Shared].
//
//	in := pipe.New(pipe.Reopen(os.Stdin))
package pipe
