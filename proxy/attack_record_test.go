package proxy_test

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/proxytest"
)

// TestArgumentsOnRecord: A014. The recorded digest is that of the forwarded bytes: numbers that a
// float cannot distinguish have different digests.
func TestArgumentsOnRecord(t *testing.T) {
	arguments := []string{
		`{"id":12345678901234567891}`, `{"id":12345678901234567000}`, `{"id":12345678901234567890.0}`,
		`{"n":1}`, `{"n":1.0}`, `{"n":1E0}`, `{"n":-0}`, `{"n":0}`, `{"n": 1}`, `{"n":1e400}`, `{"n":1e401}`, `{"s":"\u0061"}`, `{"s":"a"}`,
	}
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.Setup{})
		c := s.Connect(l, "")
		seen := map[string]string{}
		for i, a := range arguments {
			c.Must("read", a)
			c.Refuses("danger", a, "blocked")
			sum := sha256.Sum256([]byte(a))
			want := hex.EncodeToString(sum[:])
			for _, r := range s.Records.Decisions("")[2*i:] {
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

// TestRecordsAreBounded: parts of a record that a caller chooses are shortened, however long they
// are, and still recognizable.
func TestRecordsAreBounded(t *testing.T) {
	const most = 8 << 10
	hidden := "\u009b31m\u202e\u200b\U0001d159"
	long := hidden + strings.Repeat("x", 1<<20)
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.Setup{Rules: "block danger\nblock flaky.*\nmap read.command rm as delete\n"})
		s.ClientName = long[:50<<10] // longer ones are refused
		c := s.Connect(l, "")
		for _, tool := range []string{"safe", "danger", "flaky"} {
			c.Do(tool, `{"action":"`+long+`","a":"`+hidden+`"}`)
		}
		records := s.Records.All()
		if len(records) < 4 {
			t.Errorf("%d records", len(records))
		}
		for _, line := range records {
			if len(line) > most {
				t.Errorf("%d bytes: %s...", len(line), line[:most/4])
			}
			if strings.ContainsAny(string(line), hidden[:len("\u009b")]+"\u202e\u200b\U0001d159") {
				t.Errorf("%q", line)
			}
		}
	})
}

// TestMalformedIsNotADecision: a malformed message is answered before it becomes a call, and leaves
// no decision on record; the next call does.
func TestMalformedIsNotADecision(t *testing.T) {
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.Setup{})
		c := s.Connect(l, "")
		c.Must("safe", `{}`)
		for _, m := range differentials()[:10] {
			nothing(c, m.name, m.template)
		}
		if n := len(s.Records.Decisions("")); n != 1 {
			t.Errorf("%d decisions on record", n)
		}
		c.Refuses("danger", `{}`, "blocked")
	})
}
