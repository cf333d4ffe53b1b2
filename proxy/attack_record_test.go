package proxy_test

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"
)

// TestArgumentsOnRecord: A014. The digest on record is that of the very bytes
// that are forwarded: numbers that a float cannot tell apart have two of them.
func TestArgumentsOnRecord(t *testing.T) {
	arguments := []string{
		`{"id":12345678901234567891}`, `{"id":12345678901234567000}`, `{"id":12345678901234567890.0}`,
		`{"n":1}`, `{"n":1.0}`, `{"n":1E0}`, `{"n":-0}`, `{"n":0}`, `{"n": 1}`, `{"n":1e400}`, `{"n":1e401}`, `{"s":"\u0061"}`, `{"s":"a"}`,
	}
	eachLeg(t, func(t *testing.T, l leg) {
		s := start(t, setup{})
		c := s.connect(l, "")
		seen := map[string]string{}
		for i, a := range arguments {
			c.must("read", a)
			c.refuses("danger", a, "blocked")
			sum := sha256.Sum256([]byte(a))
			want := hex.EncodeToString(sum[:])
			for _, r := range s.records.decisions("")[2*i:] {
				if r.Arguments != want {
					t.Errorf("%s: %s has the digest %s, want %s", a, r.Tool, r.Arguments, want)
				}
			}
			if other, taken := seen[want]; taken {
				t.Errorf("%s and %s have one digest", a, other)
			}
			seen[want] = a
		}
	})
}

// TestRecordsAreBounded: what a caller can choose of a record takes little of it,
// however long it is, and shows what it is.
func TestRecordsAreBounded(t *testing.T) {
	const most = 8 << 10
	hidden := "\u009b31m\u202e\u200b\U0001d159"
	long := hidden + strings.Repeat("x", 1<<20)
	eachLeg(t, func(t *testing.T, l leg) {
		s := start(t, setup{rules: "block danger\nblock flaky.*\nmap read.command rm as delete\n"})
		s.clientName = long[:50<<10] // more is refused
		c := s.connect(l, "")
		for _, tool := range []string{"safe", "danger", "flaky"} {
			c.do(tool, `{"action":"`+long+`","a":"`+hidden+`"}`)
		}
		s.records.mu.Lock()
		defer s.records.mu.Unlock()
		if len(s.records.lines) < 4 {
			t.Errorf("%d records", len(s.records.lines))
		}
		for _, line := range s.records.lines {
			if len(line) > most {
				t.Errorf("%d bytes: %s...", len(line), line[:most/4])
			}
			if strings.ContainsAny(string(line), hidden[:len("\u009b")]+"\u202e\u200b\U0001d159") {
				t.Errorf("%q", line)
			}
		}
	})
}

// TestMalformedIsNotADecision: what is malformed is answered before there is a
// call, and leaves no record of one; the next call does.
func TestMalformedIsNotADecision(t *testing.T) {
	eachLeg(t, func(t *testing.T, l leg) {
		s := start(t, setup{})
		c := s.connect(l, "")
		c.must("safe", `{}`)
		for _, m := range differentials()[:10] {
			c.nothing(m.name, m.template)
		}
		if n := len(s.records.decisions("")); n != 1 {
			t.Errorf("%d decisions on record", n)
		}
		c.refuses("danger", `{}`, "blocked")
	})
}
