package mining

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/petrigate/petrigate/gate"
)

// many returns a log of the given number of calls of many tools, in random order.
func many(t testing.TB, tools, calls int) Log {
	w := newWorld(t, "")
	random := rand.New(rand.NewPCG(1, 13))
	for n := 0; calls > 0; n++ {
		key := w.open(n, "ann")
		for range 100 {
			w.call(key, fmt.Sprint("tool_", random.IntN(tools)), fmt.Sprintf(`{"path":"%d"}`, random.IntN(3)), gate.Success)
			calls--
		}
		if err := w.a.Sessions.End(t.Context(), key); err != nil {
			t.Fatal(err)
		}
	}
	return w.close()
}

// BenchmarkSuggest finds and proves the rules that logs support.
func BenchmarkSuggest(b *testing.B) {
	for name, log := range map[string]func(calls int) Log{
		"rules":   func(calls int) Log { return planted(b, 1, calls) },
		"choices": func(calls int) Log { return chosen(b, 1, calls) },
		"tools":   func(calls int) Log { return many(b, 290, calls) },
	} {
		for _, calls := range []int{10_000, 100_000} {
			b.Run(fmt.Sprintf("%s/%d", name, calls), func(b *testing.B) {
				log := log(calls)
				b.ReportAllocs()
				for b.Loop() {
					if _, err := Suggest(b.Context(), log, nil, Options{}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
