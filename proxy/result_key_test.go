package proxy_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/testserver"
)

// TestKeyFromResult: a call passes for the values in the result of an earlier call, in its
// structured content or in its only text, and for no others.
func TestKeyFromResult(t *testing.T) {
	for name, result := range map[string]string{
		"structured": `{"content":[],"structuredContent":{"contacts":[{"email":"ann@example.com"},{"email":"bob@example.com"}]}%TYPE%}`,
		"text":       `{"content":[{"type":"text","text":"{\"contacts\":[{\"email\":\"ann@example.com\"},{\"email\":\"bob@example.com\"}]}"}]%TYPE%}`,
	} {
		t.Run(name, func(t *testing.T) {
			eachLeg(t, func(t *testing.T, l leg) {
				kind := ""
				if l.modern {
					kind = `,"resultType":"complete"`
				}
				search := testserver.Tool{Name: "search", Verbatim: true, Run: func(context.Context, *testserver.Call) (json.RawMessage, error) {
					return json.RawMessage(strings.Replace(result, "%TYPE%", kind, 1)), nil
				}}
				s := start(t, setup{
					rules:  "require search before safe once with same to as result.$.contacts[*].email\n",
					server: testserver.Options{Tools: append(testserver.Attack(), search)},
				})
				c := s.connect(l, "")
				refused := func(c *client, args string) {
					if r := c.do("safe", args); !r.isError() {
						t.Errorf("safe %s: %s", args, r.raw)
					}
				}
				refused(c, `{"to":"ann@example.com"}`)
				c.must("search", `{}`)
				c.must("safe", `{"to":"ann@example.com"}`)
				c.must("safe", `{"to":["bob@example.com","ann@example.com"]}`)
				refused(c, `{"to":["bob@example.com","eve@example.com"]}`)
				refused(c, `{}`)
				s.executed("safe", 2)
			})
		})
	}
}

// TestTwoPersons: a call that requires two persons passes once two different ones have approved it;
// the client counts as one at most.
func TestTwoPersons(t *testing.T) {
	eachLeg(t, func(t *testing.T, l leg) {
		two := bothChannels()
		two.rules = "require 2 human-approvals before deploy\n"
		s := start(t, two)
		c := s.connect(l, canElicit)
		q := c.asks("deploy", `{}`)
		id := q.send(approve)
		c.must("safe", `{}`)
		s.executed("deploy", 0)
		s.eventually("one person of two has approved", func() bool {
			pending := s.pending(1)[0]
			return pending.Needs == 2 && pending.Approvals == 1
		})
		pending := s.pending(1)[0]
		if err := s.proxy.Resolve(pending.ID, true, "ada", ""); err != nil {
			t.Fatal(err)
		}
		if r := c.reply(id); r.isError() || r.result == nil {
			t.Errorf("%s", r.raw)
		}
		s.executed("deploy", 1)
		// one person at the terminal does not count as two
		q = c.asks("deploy", `{"n":2}`)
		pending = s.pending(1)[0]
		if err := s.proxy.Resolve(pending.ID, true, "ada", ""); err != nil {
			t.Fatal(err)
		}
		if err := s.proxy.Resolve(pending.ID, true, "ada", ""); err == nil {
			t.Error("one person approves twice")
		}
		s.executed("deploy", 1)
		q.send(decline)
	})
}
