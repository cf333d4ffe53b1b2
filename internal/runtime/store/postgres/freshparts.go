package postgres

import (
	"sync"

	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// freshParts tracks which parts of the state are fresh: those that have been read or written since
// the server last recovered from a crash.
//
// Commits that only record outcomes of calls do not wait for the disk, so a server crash may undo
// them. Suppose that a crash undoes the commit of version 5 of a part. This process still has
// version 5 in memory, but another process may write a different version 5. Therefore, a version
// from before a crash cannot be trusted, and an op that depends on it is stale.
type freshParts struct {
	mu    sync.Mutex
	mark  string                  // identifies the period since the server's last crash
	parts map[backend.PartID]bool // parts read or written since the server's last crash; nil means all parts, because no crash was detected
}

// setMark sets the database's mark, which changes when the server recovers from a crash. If the
// mark has changed, no part of the state is fresh any more.
func (f *freshParts) setMark(mark string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.mark != "" && f.mark != mark {
		f.parts = map[backend.PartID]bool{}
	}
	f.mark = mark
}

// add records that parts of the state are fresh. The given mark must be the database's mark at the
// time when the parts were read or written. If the mark has changed since then, add does nothing
// and returns false.
func (f *freshParts) add(mark string, ids ...backend.PartID) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if mark != f.mark {
		return false
	}
	if f.parts != nil {
		for _, id := range ids {
			f.parts[id] = true
		}
	}
	return true
}

// has reports whether a part of the state is fresh, so that its cached version can be trusted.
func (f *freshParts) has(id backend.PartID) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.parts == nil || f.parts[id]
}
