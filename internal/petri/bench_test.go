package petri

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"
)

// largeNets are those whose speed is compared, with their states.
var largeNets = []struct {
	name   string
	states int
}{
	{"Kanban-PT-00005", 2_546_432},
	{"SwimmingPool-PT-02", 3_408_031},
	{"TokenRing-PT-010", 58_905},
	{"FMS-4", 438_600},
	{"QuasiCertifProtocol-PT-06", 2_271_960},
}

func largeNet(b *testing.B, name string) (*Net, Marking) {
	if _, err := os.Stat(filepath.Join(sharedNets, name+".json")); err != nil {
		b.Skipf("no net %s in %s", name, sharedNets)
	}
	return readNet(b, sharedNets, name).net()
}

// BenchmarkSearch is the packed search; compare with BenchmarkMapOfStrings of
// the same run.
func BenchmarkSearch(b *testing.B) {
	for _, large := range largeNets {
		b.Run(large.name, func(b *testing.B) {
			n, m := largeNet(b, large.name)
			for b.Loop() {
				a := Analyze(n, m, Options{MaxStates: 10_000_000})
				if a.States != large.states {
					b.Fatalf("%d states", a.States)
				}
				b.ReportMetric(a.BytesPerState, "bytes/state")
			}
			b.ReportMetric(float64(large.states*b.N)/b.Elapsed().Seconds(), "states/s")
		})
	}
}

// BenchmarkMapOfStrings enumerates the states plainly: a queue of markings and
// a map of strings.
func BenchmarkMapOfStrings(b *testing.B) {
	for _, large := range largeNets {
		b.Run(large.name, func(b *testing.B) {
			n, m := largeNet(b, large.name)
			for b.Loop() {
				if states := mapOfStrings(n, m); states != large.states {
					b.Fatalf("%d states", states)
				}
			}
			b.ReportMetric(float64(large.states*b.N)/b.Elapsed().Seconds(), "states/s")
		})
	}
}

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
