package postgres

import (
	"sync"

	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// freshParts tracks which parts were read since the server last recovered from a crash.
//
// Commits that only settle calls do not wait for the disk. A server crash may undo them while this
// process is still running and has their results in memory, for example version 5 of a part.
// Another process then writes a different version 5. So versions from before a crash cannot be
// trusted, and an op with such a version is stale.
type freshParts struct {
	mu    sync.Mutex
	mark  string                      // identifies the period between two crashes
	parts map[backend.PartID]struct{} // nil: all parts are fresh, because no crash was seen
}

// setMark sets the current mark. If it differs from the last mark, the server has crashed, and no
// part is fresh.
func (f *freshParts) setMark(mark string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.mark != "" && f.mark != mark {
		f.parts = map[backend.PartID]struct{}{}
	}
	f.mark = mark
}

// add notes that the parts were read or written under the given mark. It reports whether that is
// the current mark.
func (f *freshParts) add(mark string, ids ...backend.PartID) bool {
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

// has reports whether the cached version of the part can be trusted.
func (f *freshParts) has(id backend.PartID) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.parts == nil {
		return true
	}
	_, ok := f.parts[id]
	return ok
}
