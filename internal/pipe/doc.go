// Package pipe reads and writes pipes that do not block, at little cost. Where a call of the
// system cannot wait, the Go scheduler need not hear of it: that saves it from handing the
// processor to another thread and back for each message. A file that others have too is read
// and written through a [Shared].
//
//	in := pipe.New(pipe.Own(os.Stdin))
package pipe
