package upstream

import (
	"net/http"
	"testing"
)

var benchParams = []byte(`{"name":"echo","arguments":{"text":"All is well that ends well, says the one who waits for the end."},"_meta":{"progressToken":17}}`)

func benchmarkCalls(b *testing.B, c Config, atOnce int) {
	s := start(b, c)
	b.ReportAllocs()
	b.SetParallelism(atOnce)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if r := <-s.Send(Request{Method: "tools/call", Name: "echo", Params: benchParams}).Done(); r.Result == nil {
				b.Error(r.Err)
			}
		}
	})
	b.StopTimer()
	s.Close()
}

func BenchmarkStdioOneAtATime(b *testing.B) {
	s := start(b, child(b, "lean"))
	b.ReportAllocs()
	for b.Loop() {
		if r := <-s.Send(Request{Method: "tools/call", Name: "echo", Params: benchParams}).Done(); r.Result == nil {
			b.Fatal(r.Err)
		}
	}
	s.Close()
}

func BenchmarkStdio64(b *testing.B) { benchmarkCalls(b, child(b, "lean"), 32) }

func BenchmarkHTTP(b *testing.B) {
	e := serve(b, &endpoint{call: func(w http.ResponseWriter, r *http.Request, m incoming) { ok(w, r, m) }})
	benchmarkCalls(b, e.config(), 16)
}
