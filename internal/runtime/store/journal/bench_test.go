package journal

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// BenchmarkRecover measures how long it takes to open a state with 64 MiB of steps in its log and
// none in its checkpoint.
func BenchmarkRecover(b *testing.B) {
	path := place(b)
	must := func(err error) {
		b.Helper()
		if err != nil {
			b.Fatal(err)
		}
	}
	must(open(b, Options{Path: path}).Close())
	empty, err := os.ReadFile(path)
	must(err)
	first := open(b, Options{Path: path, Sync: Normal, segment: 1 << 30})
	versions := make([]int64, 64)
	for size := int64(0); size < maxBacklog; {
		var ops []*backend.Op
		for i := range versions {
			ops = append(ops, sample(fmt.Sprint("session", i), versions[i]))
			versions[i]++
		}
		must(first.Commit(b.Context(), ops))
		info, err := os.Stat(path + logSuffix)
		must(err)
		size = info.Size()
	}
	must(first.Close())
	b.SetBytes(maxBacklog)
	for b.Loop() {
		b.StopTimer()
		must(os.WriteFile(path, empty, 0o600)) // restores the empty checkpoint, so nothing is folded
		_, _ = os.Remove(path+"-wal"), os.Remove(path+"-shm")
		b.StartTimer()
		o, err := Open(b.Context(), Options{Path: path, segment: 1 << 30})
		must(err)
		b.StopTimer()
		v, err := o.Versions(b.Context(), backend.PartID{Scope: backend.Session, Name: "session0"})
		if o.abandon(); v[0] != versions[0] {
			b.Fatal(errors.Join(err, fmt.Errorf("version %d, want %d", v, versions[0])))
		}
		b.StartTimer()
	}
}
