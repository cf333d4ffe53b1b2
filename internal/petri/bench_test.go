//go:build unix

package petri

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"
)

// largeNets are the benchmarked nets with their numbers of states: the nets from a report that
// found the search too slow, and one with many transitions.
var largeNets = []struct {
	name   string
	states int
}{
	{"SwimmingPool-PT-02", 3_408_031},
	{"TCPcondis-PT-05", 2_985_834},
	{"FMS-PT-00005", 2_895_018},
	{"Kanban-PT-00005", 2_546_432},
	{"QuasiCertifProtocol-PT-06", 2_271_960},
	{"TokenRing-PT-010", 58_905},
}

func largeNet(b *testing.B, name string) (*Net, Marking) {
	if _, err := os.Stat(filepath.Join(sharedNets, name+".json")); err != nil {
		b.Skipf("no net %s in %s", name, sharedNets)
	}
	return readNet(b, sharedNets, name).net()
}

// BenchmarkSearch visits each net's states with the packed search and, for comparison, with a plain
// map of strings. It reports the states per second of processor time for both, and their ratio as
// x-map, which must be at least 5.
func BenchmarkSearch(b *testing.B) {
	for _, large := range largeNets {
		b.Run(large.name, func(b *testing.B) {
			n, m := largeNet(b, large.name)
			var packed, plain time.Duration
			for b.Loop() {
				began := processorTime(b)
				a := Analyze(n, m, Options{MaxStates: 10_000_000})
				between := processorTime(b)
				if states := mapOfStrings(n, m); a.States != large.states || states != large.states {
					b.Fatalf("%d and %d states", a.States, states)
				}
				packed, plain = packed+between-began, plain+processorTime(b)-between
				b.ReportMetric(a.BytesPerState, "bytes/state")
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(large.states*b.N)/packed.Seconds(), "states/s")
			b.ReportMetric(float64(large.states*b.N)/plain.Seconds(), "map-states/s")
			b.ReportMetric(plain.Seconds()/packed.Seconds(), "x-map")
		})
	}
}

// processorTime returns the processor time used by the process, after a garbage collection.
func processorTime(b *testing.B) time.Duration {
	runtime.GC()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// mapOfStrings enumerates the states plainly: a queue of markings and a map of strings.
func mapOfStrings(n *Net, initial Marking) int {
	var key []byte
	encode := func(m []int32) []byte {
		key = key[:0]
		for _, tokens := range m {
			key = binary.AppendUvarint(key, uint64(tokens))
		}
		return key
	}
	first := make([]int32, n.Places)
	for place, tokens := range initial {
		first[place] = int32(tokens)
	}
	seen := map[string]struct{}{string(encode(first)): {}}
	queue := [][]int32{first}
	next := make([]int32, n.Places)
	for len(queue) > 0 {
		m := queue[0]
		queue = queue[1:]
	transitions:
		for i := range n.Transitions {
			t := &n.Transitions[i]
			for _, a := range t.In {
				if m[a.Place] < int32(a.Weight) {
					continue transitions
				}
			}
			copy(next, m)
			for _, a := range t.In {
				next[a.Place] -= int32(a.Weight)
			}
			for _, a := range t.Out {
				next[a.Place] += int32(a.Weight)
			}
			if _, ok := seen[string(encode(next))]; !ok {
				seen[string(key)] = struct{}{}
				queue = append(queue, append([]int32(nil), next...))
			}
		}
	}
	return len(seen)
}

// BenchmarkLimit is the net of "limit x to 1000000 per session".
func BenchmarkLimit(b *testing.B) {
	n, m := budget(1_000_000)
	for b.Loop() {
		if a := Analyze(n, m, Options{Liveness: true}); a.States != 1_000_002 {
			b.Fatalf("%d states", a.States)
		}
	}
}
