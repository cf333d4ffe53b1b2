package pipeline_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/proxytest"
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
			proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
				kind := ""
				if l.Modern {
					kind = `,"resultType":"complete"`
				}
				search := testserver.Tool{Name: "search", Verbatim: true, Run: func(context.Context, *testserver.Call) (json.RawMessage, error) {
					return json.RawMessage(strings.Replace(result, "%TYPE%", kind, 1)), nil
				}}
				s := proxytest.Start(t, proxytest.Setup{
					Rules:  "require search before safe once with same to as result.$.contacts[*].email\n",
					Server: testserver.Options{Tools: append(testserver.Attack(), search)},
				})
				c := s.Connect(l, "")
				refused := func(c *proxytest.Client, args string) {
					if r := c.Do("safe", args); !r.IsError() {
						t.Errorf("safe %s: %s", args, r.Raw)
					}
				}
				refused(c, `{"to":"ann@example.com"}`)
				c.Must("search", `{}`)
				c.Must("safe", `{"to":"ann@example.com"}`)
				c.Must("safe", `{"to":["bob@example.com","ann@example.com"]}`)
				refused(c, `{"to":["bob@example.com","eve@example.com"]}`)
				refused(c, `{}`)
				s.Executed("safe", 2)
			})
		})
	}
}

// TestTwoPersons: a call that requires two persons passes once two different ones have approved it;
// the client counts as one at most.
func TestTwoPersons(t *testing.T) {
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		two := bothChannels()
		two.Rules = "require 2 human-approvals before deploy\n"
		s := proxytest.Start(t, two)
		c := s.Connect(l, proxytest.CanElicit)
		q := c.Asks("deploy", `{}`)
		id := q.Send(proxytest.Approve)
		c.Must("safe", `{}`)
		s.Executed("deploy", 0)
		s.Eventually("one person of two has approved", func() bool {
			pending := s.AwaitPending(1)[0]
			return pending.Needs == 2 && pending.Approvals == 1
		})
		pending := s.AwaitPending(1)[0]
		if err := s.Proxy.Resolve(pending.ID, true, "ada", ""); err != nil {
			t.Fatal(err)
		}
		if r := c.Reply(id); r.IsError() || r.Result == nil {
			t.Errorf("%s", r.Raw)
		}
		s.Executed("deploy", 1)
		// one person at the terminal does not count as two
		q = c.Asks("deploy", `{"n":2}`)
		pending = s.AwaitPending(1)[0]
		if err := s.Proxy.Resolve(pending.ID, true, "ada", ""); err != nil {
			t.Fatal(err)
		}
		if err := s.Proxy.Resolve(pending.ID, true, "ada", ""); err == nil {
			t.Error("one person approves twice")
		}
		s.Executed("deploy", 1)
		q.Send(proxytest.Decline)
	})
}
