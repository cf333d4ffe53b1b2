package rawjson

import (
	"bytes"
	"strings"
	"testing"
)

const callMessage = `{"jsonrpc":"2.0","id":17,"method":"tools/call","params":{"name":"git_commit","arguments":{"path":"/srv/work/project","message":"Fix the build","amend":false,"files":["a.go","b.go"]},"_meta":{"progressToken":17}}}`

func BenchmarkCheckCall(b *testing.B) {
	doc := []byte(callMessage)
	b.SetBytes(int64(len(doc)))
	b.ReportAllocs()
	for b.Loop() {
		if err := Check(doc, 128); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCheckLong(b *testing.B) {
	for name, doc := range long() {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(doc)))
			b.ReportAllocs()
			for b.Loop() {
				if err := Check(doc, 128); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkSkipLong(b *testing.B) {
	for name, doc := range long() {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(doc)))
			b.ReportAllocs()
			for b.Loop() {
				if Skip(doc, 0) != len(doc) {
					b.Fatal("broken")
				}
			}
		})
	}
}

func BenchmarkMember(b *testing.B) {
	doc := []byte(callMessage)
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := Member(doc, "params"); !ok {
			b.Fatal("no params")
		}
	}
}

// long has one document of a megabyte for each of several kinds.
func long() map[string][]byte {
	const size = 1 << 20
	fill := func(part string) string { return strings.Repeat(part, size/len(part)) }
	var keys bytes.Buffer
	for i := range 100_000 {
		keys.WriteString(`,"k`)
		keys.WriteString(strings.Repeat("x", i%7))
		keys.WriteByte('1' + byte(i%9))
		keys.WriteString(string(rune('a'+i%26)) + string(rune('a'+i/26%26)) + string(rune('a'+i/676%26)) + string(rune('a'+i/17576%26)))
		keys.WriteString(`":1`)
	}
	return map[string][]byte{
		"text":    []byte(`{"content":[{"type":"text","text":"` + fill("All is well that ends well. ") + `"}]}`),
		"escapes": []byte(`{"content":[{"type":"text","text":"` + fill(`{\"key\": \"value\"},\n`) + `"}]}`),
		"chinese": []byte(`{"content":[{"type":"text","text":"` + fill("彼得里网") + `"}]}`),
		"numbers": []byte(`[0` + fill(",1234,-5.5") + `]`),
		"objects": []byte(`[{}` + fill(`,{"id":1,"name":"x"}`) + `]`),
		"keys":    []byte("{" + keys.String()[1:] + "}"),
	}
}
