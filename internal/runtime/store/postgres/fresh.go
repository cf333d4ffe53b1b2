package postgres

import (
	"sync"

	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// fresh knows which parts were read since the server last recovered from a crash.
//
// Commits that only settle calls do not wait for the disk. A crash of the server may undo
// them, while this process lives and still has in its memory what they wrote, or what it
// read of them: version 5 of a part, say. Another process then writes another version 5.
// So versions from before a crash are worth nothing: an op that has one is stale.
type fresh struct {
	mu    sync.Mutex
	mark  string                      // of the time between two crashes
	parts map[backend.PartID]struct{} // nil: all, there was no crash yet
}

// begin says in which time it is.
func (f *fresh) begin(mark string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.mark != "" && f.mark != mark {
		f.parts = map[backend.PartID]struct{}{}
	}
	f.mark = mark
}

// add says that the parts were read, or written, in the time of the mark. It reports
// whether that is now.
func (f *fresh) add(mark string, ids ...backend.PartID) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if mark != f.mark {
		return false
	}
	if f.parts != nil {
		for _, id := range ids {
			f.parts[id] = struct{}{}
		}
	}
	return true
}

// has reports whether a version of the part may be believed.
func (f *fresh) has(id backend.PartID) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.parts == nil {
		return true
	}
	_, ok := f.parts[id]
	return ok
}
