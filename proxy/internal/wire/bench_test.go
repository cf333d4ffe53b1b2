package wire

import (
	"strings"
	"testing"
)

const callMessage = `{"jsonrpc":"2.0","id":17,"method":"tools/call","params":{"name":"git_commit","arguments":{"path":"/srv/work/project","message":"Fix the build","amend":false,"files":["a.go","b.go"]},"_meta":{"progressToken":17}}}`

func BenchmarkForward(b *testing.B) {
	raw := []byte(callMessage)
	hop := Hop{Name: "commit", ProgressToken: []byte("4711")}
	var dst []byte
	b.ReportAllocs()
	for b.Loop() {
		m, fault := Parse(raw, 4<<20)
		if fault != nil {
			b.Fatal(fault)
		}
		c, fault := ParseCall(m)
		if fault != nil {
			b.Fatal(fault)
		}
		dst = c.AppendForward(dst[:0], hop)
	}
}

func BenchmarkParse(b *testing.B) {
	raw := []byte(callMessage)
	b.ReportAllocs()
	for b.Loop() {
		if _, fault := Parse(raw, 4<<20); fault != nil {
			b.Fatal(fault)
		}
	}
}

func BenchmarkParseUpstream(b *testing.B) {
	for name, text := range map[string]string{
		"small":   "ok",
		"text":    strings.Repeat("All is well that ends well. ", 40_000),
		"escapes": strings.Repeat(`{\"key\": \"value\"},\n`, 50_000),
	} {
		b.Run(name, func(b *testing.B) {
			line := []byte(`{"jsonrpc":"2.0","id":17,"result":{"content":[{"type":"text","text":"` + text + `"}],"isError":false}}`)
			b.SetBytes(int64(len(line)))
			b.ReportAllocs()
			for b.Loop() {
				m, err := ParseUpstream(line)
				if err != nil || !ResultFacts(m.Result).Success() {
					b.Fatal(err)
				}
			}
		})
	}
}
