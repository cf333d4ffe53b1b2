package proxytest

import (
	"strings"

	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/testserver"
)

// Refuses makes a call to a tool and fails the test unless the policy refuses the call. The
// response must be a readable tool error, exactly one refusal must be recorded, the state must not
// change, and the upstream must not execute the call.
func (c *Client) Refuses(tool, args, kind string) Message {
	c.T.Helper()
	before, executed, records := c.State(), c.executedCalls(), len(c.Records.Decisions(""))
	r := c.Do(tool, args)
	switch {
	case r.Result == nil || !r.IsError() || r.Text() == "":
		c.T.Errorf("%s %s: not a tool error: %s", tool, args, r.Raw)
	case r.Decision("decision") != "refuse" || r.Decision("kind") != kind:
		c.T.Errorf("%s %s: kind %q, want %q: %s", tool, args, r.Decision("kind"), kind, r.Raw)
	case c.Leg.Modern && Member(r.Result, "resultType") != `"complete"`:
		c.T.Errorf("%s %s: no resultType: %s", tool, args, r.Raw)
	}
	if after := c.State(); after != before {
		c.T.Errorf("%s %s: the state moved:\n%s\n%s", tool, args, before, after)
	}
	if n := c.executedCalls(); n != executed {
		c.T.Errorf("%s %s: executed", tool, args)
	}
	all := c.Records.Decisions("")
	if len(all) != records+1 {
		c.T.Fatalf("%s %s: %d records, want 1", tool, args, len(all)-records)
	}
	last := all[len(all)-1]
	if last.Decision != "refuse" || last.Kind != kind || last.Reason == "" || last.Arguments == "" || last.Principal == "" || last.Session == "" || last.Policy == "" {
		c.T.Errorf("%s %s: the record lacks something: %+v", tool, args, last)
	}
	return r
}

// executedCalls returns the number of requests that the upstream has executed, except requests
// about tasks.
func (s *Site) executedCalls() int {
	return len(list.Filter(s.Log.Records(testserver.Executed), func(r testserver.Record) bool { return !strings.HasPrefix(r.Name, "tasks/") }))
}

// CallUnknown makes a call to a tool and fails the test unless the proxy responds with the error
// for an unknown tool. The upstream must not execute anything, and the state must not change.
func (c *Client) CallUnknown(tool string) {
	c.T.Helper()
	before, executed := c.State(), c.Log.Executed("")
	if r := c.Do(tool, `{}`); r.Code() != CodeParams {
		c.T.Errorf("%q: %s", tool, r.Raw)
	}
	if c.State() != before || c.Log.Executed("") != executed {
		c.T.Errorf("%q: something moved", tool)
	}
}

// CallBlocked makes a call to a tool and fails the test unless a net blocks the call. Unlike
// [Client.Refuses], it examines only the response.
func (c *Client) CallBlocked(tool string) {
	c.T.Helper()
	if r := c.Do(tool, `{}`); !r.IsError() || r.Decision("kind") != "blocked" {
		c.T.Errorf("%s: %s", tool, r.Raw)
	}
}
