package chaos

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
)

// A fate is what the client of a call was told.
type fate string

const (
	open        fate = ""            // no answer so far
	succeeded   fate = "succeeded"   // the upstream's result
	failed      fate = "failed"      // an error from the upstream, or a result that is an error
	refused     fate = "refused"     // refused by the policy
	unavailable fate = "unavailable" // refused because the upstream is down or could not be reached
	unknown     fate = "unknown"     // sent, but the outcome is unknown
	cancelled   fate = "cancelled"   // canceled by the client
	lost        fate = "lost"        // no answer at all, which is a violation by itself
)

// A call is a call with its four accounts.
type call struct {
	nonce, group, upstream, tool string

	impatient bool
	fate      fate // what the client was told

	executed int // number of executions by the upstream

	// From the audit log.
	session  string
	number   uint64
	allowed  int
	refusals int
	outcomes []string // outcomes that ended the call
	late     []string // outcomes of answers that arrived after the end
}

// A ledger contains all calls, and the violations that can be found without comparing the accounts.
type ledger struct {
	mu     sync.Mutex
	calls  map[string]*call // keyed by the hash of the arguments
	byName map[string]*call // keyed by the nonce
	wrongs []string
}

func newLedger() *ledger { return &ledger{calls: map[string]*call{}, byName: map[string]*call{}} }

// book records a call that is about to be made.
func (l *ledger) book(c *call, args string) {
	sum := sha256.Sum256([]byte(args))
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls[hex.EncodeToString(sum[:])] = c
	l.byName[c.nonce] = c
}

// wrong records a violation.
func (l *ledger) wrong(what string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wrongs = append(l.wrongs, what)
}

// told records the answer and returns the problem with it. An answer from an upstream must contain
// the nonce of its call and no other text.
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
		c.fate = unavailable // the message does not end here, because this proxy has not yet received the upstream's list
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
