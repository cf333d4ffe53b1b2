package proxy_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"
)

// A question is a question to a client in the form of its leg: elicitation/create or
// input_required.
type question struct {
	c          *client
	tool, args string
	call       string // id of the call
	elicit     string // id of elicitation/create
	state      string // requestState as JSON
	params     []byte // params of elicitation/create
}

// asks calls a tool and waits for the question.
func (c *client) asks(tool, args string) question {
	c.t.Helper()
	return c.asked(tool, args, c.call(tool, args))
}

// asked waits for the question about a call that was sent.
func (c *client) asked(tool, args, id string) question {
	c.t.Helper()
	q := question{c: c, tool: tool, args: args, call: id}
	if !c.leg.modern {
		m := c.await("a question", func(m message) bool { return m.method == "elicitation/create" })
		q.elicit, q.params = m.id, m.params
		return q
	}
	r := c.reply(id)
	q.state = at(r.result, "requestState")
	q.params = []byte(at(r.result, "inputRequests", "approval", "params"))
	if at(r.result, "resultType") != `"input_required"` || q.state == "" || len(q.params) == 0 {
		c.t.Fatalf("no question: %s", r.raw)
	}
	return q
}

// send sends an answer and returns the id of the call that will get a reply.
func (q question) send(result string) (id string) {
	if !q.c.leg.modern {
		q.c.send([]byte(`{"jsonrpc":"2.0","id":`+q.elicit+`,"result":`+result+`}`), nil)
		return q.call
	}
	return q.c.callWith(q.tool, q.args, "", q.with(result))
}

// with returns the members of params that carry an answer.
func (q question) with(result string) string {
	return `,"inputResponses":{"approval":` + result + `},"requestState":` + q.state
}

// answer sends an answer and waits for the reply to the call.
func (q question) answer(result string) message {
	q.c.t.Helper()
	return q.c.reply(q.send(result))
}

// text returns the text for the person.
func (q question) text() string {
	s, err := strconv.Unquote(at(q.params, "message"))
	if err != nil {
		_ = json.Unmarshal([]byte(at(q.params, "message")), &s)
	}
	return s
}

const (
	approve = `{"action":"accept","content":{"decision":"approve"}}`
	deny    = `{"action":"accept","content":{"decision":"deny"}}`
	decline = `{"action":"decline"}`
	cancel  = `{"action":"cancel"}`
)

// TestApprovedCallRunsOnce: a call waits for the person and is executed once, and the consent is
// recorded and used up.
func TestApprovedCallRunsOnce(t *testing.T) {
	eachLeg(t, func(t *testing.T, l leg) {
		s := start(t, setup{})
		c := s.connect(l, canElicit)
		q := c.asks("deploy", `{"env":"staging"}`)
		s.executed("deploy", 0)
		if r := q.answer(approve); r.isError() || r.result == nil {
			t.Fatalf("%s", r.raw)
		}
		s.executed("deploy", 1)
		allow := s.records.decisions("allow")
		if len(allow) != 1 || allow[0].Approval == "" || allow[0].Channel != "elicit" || allow[0].Actor == "" {
			t.Errorf("%+v", allow)
		}
		q = c.asks("deploy", `{"env":"staging"}`) // a second call is a new question
		q.answer(decline)
		s.executed("deploy", 1)
	})
}

// TestOnlyApproveApproves: B017. Everything except accept with decision=approve refuses, and no net
// moves.
func TestOnlyApproveApproves(t *testing.T) {
	answers := []string{
		deny, decline, cancel,
		`{"action":"accept"}`,
		`{"action":"accept","content":null}`,
		`{"action":"accept","content":{}}`,
		`{"action":"accept","content":{"approve":true}}`,
		`{"action":"accept","content":{"decision":true}}`,
		`{"action":"accept","content":{"decision":["approve"]}}`,
		`{"action":"accept","content":{"decision":"Approve"}}`,
		`{"action":"accept","content":{"decision":" approve"}}`,
		`{"action":"accept","content":{"decision":""}}`,
		`{"action":"accept","content":{"Decision":"approve"}}`,
		`{"action":"accept","content":"approve"}`,
		`{"action":"decline","ACTION":"accept","content":{"decision":"approve"}}`,
		`{"Action":"accept","content":{"decision":"approve"}}`,
		`{"action":"ACCEPT","content":{"decision":"approve"}}`,
		`{"action":["accept"],"content":{"decision":"approve"}}`,
		`{"content":{"decision":"approve"}}`,
		`{}`,
	}
	eachLeg(t, func(t *testing.T, l leg) {
		s := start(t, setup{})
		c := s.connect(l, canElicit)
		c.must("safe", `{}`)
		before := s.state()
		for i, a := range answers {
			records := len(s.records.decisions("refuse"))
			r := c.asks("deploy", `{"n":`+strconv.Itoa(i)+`}`).answer(a)
			if !r.isError() || r.decision("kind") != "approval" {
				t.Errorf("%s: %s", a, r.raw)
			}
			if n := len(s.records.decisions("refuse")); n != records+1 {
				t.Errorf("%s: %d records of the refusal", a, n-records)
			}
		}
		if after := s.state(); after != before {
			t.Errorf("the state moved:\n%s\n%s", before, after)
		}
		s.executed("deploy", 0)
	})
}

// TestAnswersTwice: B017. The first answer stands; on the legs that answer with a response, an
// error or a wrong id is not an answer.
func TestAnswersTwice(t *testing.T) {
	eachLeg(t, func(t *testing.T, l leg) {
		s := start(t, setup{})
		c := s.connect(l, canElicit)
		q := c.asks("deploy", `{}`)
		if r := q.answer(decline); !r.isError() {
			t.Fatalf("%s", r.raw)
		}
		id := q.send(approve)
		if l.modern { // the question is closed, and the denial stands
			if r := c.reply(id); !r.isError() || r.decision("kind") != "approval" {
				t.Errorf("%s", r.raw)
			}
		}
		c.must("safe", `{}`)
		s.executed("deploy", 0)
	})
}

// TestErrorAnswers: a client that answers the question with a JSON-RPC error has asked no one, and
// an answer under another id does not count (B016).
func TestErrorAnswers(t *testing.T) {
	legacyLegs(t, func(t *testing.T, l leg) {
		s := start(t, setup{})
		c, other := s.connect(l, canElicit), s.connect(l, canElicit)
		for _, id := range []string{`1`, `"pg-1"`, `0`, `"1"`} {
			c.send([]byte(`{"jsonrpc":"2.0","id":`+id+`,"result":`+approve+`}`), nil)
		}
		q := c.asks("deploy", `{}`)
		for _, id := range []string{`1`, `2`, q.call, `"` + q.call + `"`, strings.ToUpper(q.elicit)} {
			c.send([]byte(`{"jsonrpc":"2.0","id":`+id+`,"result":`+approve+`}`), nil)
		}
		other.send([]byte(`{"jsonrpc":"2.0","id":`+q.elicit+`,"result":`+approve+`}`), nil) // of another session
		other.must("safe", `{}`)
		c.must("safe", `{}`)
		s.executed("deploy", 0)
		s.pending(1)
		c.send([]byte(`{"jsonrpc":"2.0","id":`+q.elicit+`,"error":{"code":-1,"message":"no"}}`), nil)
		if r := c.reply(q.call); !r.isError() || r.decision("kind") != "approval" {
			t.Errorf("%s", r.raw)
		}
		s.executed("deploy", 0)
	})
}

// TestNotDeclared: a client without the capability is not asked, and the call is refused at once if
// no other channel is open.
func TestNotDeclared(t *testing.T) {
	eachLeg(t, func(t *testing.T, l leg) {
		for _, capabilities := range []string{``, `{"elicitation":{"url":{}}}`, `{"Elicitation":{}}`, `{"experimental":{"elicitation":{}}}`} {
			s := start(t, setup{})
			c := s.connect(l, capabilities)
			c.must("safe", `{}`)
			c.refuses("deploy", `{}`, "approval")
			if n := c.mail.count(func(m message) bool { return m.method != "" }); n != 0 {
				t.Errorf("%s: asked: %s", capabilities, c.mail)
			}
			c.close()
		}
	})
}

// TestPreemptive: B015. An unsolicited answer does not count.
func TestPreemptive(t *testing.T) {
	eachLeg(t, func(t *testing.T, l leg) {
		s := start(t, setup{})
		c := s.connect(l, canElicit)
		for i, extra := range []string{
			`,"inputResponses":{"approval":` + approve + `}`,
			`,"inputResponses":{"approval":` + approve + `},"requestState":""`,
			`,"inputResponses":{"approval":` + approve + `},"requestState":"x"`,
			`,"inputResponses":{"confirm":{"action":"accept"}},"requestState":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"`,
		} {
			args := `{"n":` + strconv.Itoa(i) + `}`
			q := c.asked("deploy", args, c.callWith("deploy", args, "", extra))
			s.executed("deploy", 0)
			if !l.modern {
				q.answer(decline)
			}
		}
		s.executed("deploy", 0)
	})
}

// TestQuestionText: A014. The person reads the very bytes that are forwarded, with all invisible
// characters made visible.
func TestQuestionText(t *testing.T) {
	arguments := `{"id":12345678901234567891,"f":1.0,"bidi":"a` + "\u202e\u2066" + `b","zero":"c` + "\u200b\ufeff" + `d","esc":"\u202e","nl":"x\ny","fake":"\n\nApproval ap_X"}`
	eachLeg(t, func(t *testing.T, l leg) {
		s := start(t, setup{})
		c := s.connect(l, canElicit)
		q := c.asks("deploy", arguments)
		text := q.text()
		for _, want := range []string{
			`12345678901234567891`, `"f": 1.0`, `a\u{202e}\u{2066}b`, `c\u{200b}\u{feff}d`, `"esc": "\u202e"`, `"x\ny"`, `"\n\nApproval ap_X"`,
			"deploy", "upstream up", "test.rules:2:1", "sha256",
		} {
			if !strings.Contains(text, want) {
				t.Errorf("the question lacks %q:\n%s", want, text)
			}
		}
		if i := strings.IndexFunc(text, func(r rune) bool { return r != '\n' && (r < ' ' || r > 0x7e) }); i >= 0 {
			t.Errorf("a hidden character at %d of %q", i, text)
		}
		if at(q.params, "requestedSchema", "required") != `["decision"]` || at(q.params, "requestedSchema", "properties", "decision", "default") != "" {
			t.Errorf("the form: %s", q.params)
		}
		q.answer(approve)
		records := s.log.Records("executed")
		if len(records) != 1 || string(records[0].Args) != arguments {
			t.Errorf("%v", records)
		}
	})
}
