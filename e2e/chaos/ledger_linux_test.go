package chaos

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
)

// A fate is what a client was told of a call.
type fate string

const (
	open        fate = ""            // no answer yet
	succeeded   fate = "succeeded"   // the result of the upstream
	failed      fate = "failed"      // an error of the upstream, or a result that is one
	refused     fate = "refused"     // by the policy
	unavailable fate = "unavailable" // refused: the upstream is down, or was not reached
	unknown     fate = "unknown"     // sent, and nobody knows what came of it
	cancelled   fate = "cancelled"   // by the client
	lost        fate = "lost"        // a violation in itself
)

// A call is one call with the four accounts of it.
type call struct {
	nonce, group, upstream, tool string

	impatient bool
	fate      fate // as the client was told

	executed int // by the upstream

	// Of the audit log.
	session  string
	number   uint64
	allowed  int
	refusals int
	outcomes []string // of those that ended it
	late     []string // of answers after the end
}

// A ledger holds every call, and what nobody can be right about.
type ledger struct {
	mu     sync.Mutex
	calls  map[string]*call // by the hash of their arguments
	byName map[string]*call // by nonce
	wrongs []string
}

func newLedger() *ledger { return &ledger{calls: map[string]*call{}, byName: map[string]*call{}} }

// book notes a call that is about to be made.
func (l *ledger) book(c *call, args string) {
	sum := sha256.Sum256([]byte(args))
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls[hex.EncodeToString(sum[:])] = c
	l.byName[c.nonce] = c
}

// wrong notes a violation.
func (l *ledger) wrong(what string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wrongs = append(l.wrongs, what)
}

// told notes the answer, and returns what is wrong with it: an answer of an
// upstream has the nonce of its call and no other text.
func (c *call) told(r reply) string {
	if r.Error != nil {
		return c.toldError(r.Error)
	}
	var result struct {
		IsError bool `json:"isError"`
		Content []struct{ Text string }
		Meta    map[string]struct {
			Decision, Kind string
		} `json:"_meta"`
	}
	if err := json.Unmarshal(r.Result, &result); err != nil || len(result.Content) != 1 {
		c.fate = lost
		return fmt.Sprintf("no result of a tool: %.200q", r.Result)
	}
	if d, ok := result.Meta["io.petrigate/decision"]; ok {
		return c.toldDecision(d.Kind, r.Result)
	}
	c.fate = succeeded
	if result.IsError {
		c.fate = failed
	}
	if result.Content[0].Text != c.nonce {
		c.fate = lost
		return fmt.Sprintf("the answer to another call: %.200q", r.Result)
	}
	return ""
}

func (c *call) toldError(raw json.RawMessage) string {
	var e struct {
		Code    int
		Message string
	}
	err := json.Unmarshal(raw, &e)
	switch {
	case err == nil && e.Code == -32000 && e.Message == c.nonce:
		c.fate = failed
	case err == nil && e.Code == -32602 && strings.HasPrefix(e.Message, "Unknown tool: "+c.upstream+"_"+c.tool+"."):
		c.fate = unavailable // the message goes on: this petrigate has not seen the list of the upstream yet
	default:
		c.fate = lost
		return fmt.Sprintf("an error that is not that of its upstream: %s", raw)
	}
	return ""
}

func (c *call) toldDecision(kind string, result []byte) string {
	switch kind {
	case "blocked":
		c.fate = refused
	case "unavailable":
		c.fate = unavailable
	case "unknown":
		c.fate = unknown
	default:
		c.fate = lost
		return fmt.Sprintf("an unexpected refusal: %.300q", result)
	}
	return ""
}
