package proxy_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/fixture"
	"github.com/petrigate/petrigate/proxy"
)

// inquisitive is a site in front of an upstream over HTTP that asks what it is
// told to, and that its sessions share.
func inquisitive(t *testing.T, change func(*proxy.Upstream)) *site {
	t.Helper()
	return start(t, setup{policy: netPolicy(t), server: fixture.Options{Eras: fixture.Legacy, Tools: fixture.Asking()}, change: func(o *proxy.Options) {
		o.Upstreams[0].Isolation = proxy.IsolateShared
		if change != nil {
			change(&o.Upstreams[0])
		}
	}})
}

// TestErrandNotAskedFor: a client that makes a task of what was no task has
// answered nothing, and nobody learns of the task.
func TestErrandNotAskedFor(t *testing.T) {
	legacyLegs(t, func(t *testing.T, l leg) {
		s := inquisitive(t, nil)
		c := s.connect(l, makesErrands)
		call := c.put("elicitation/create", asksName)
		c.respond(c.questioned("elicitation/create").id, `{"action":"accept","task":`+shown("mine", "working")+`}`)
		if r := c.heard(call); r.code() != "-32603" || strings.Contains(string(r.raw), "mine") {
			t.Errorf("%s", r.raw)
		}
		c.refusesErrand("mine", "-32602")
		call = c.put("elicitation/create", asksName)
		c.respond(c.questioned("elicitation/create").id, `{"action":"accept","task":"of mine"}`) // which is none
		differ(t, "answer", string(c.heard(call).result), `{"action":"accept","task":"of mine"}`)
	})
}

// TestErrandUnclear: a task that could be another one, or none, is not followed.
func TestErrandUnclear(t *testing.T) {
	legacyLegs(t, func(t *testing.T, l leg) {
		s := inquisitive(t, nil)
		c := s.connect(l, makesErrands)
		c.begins("taken")
		for _, result := range []string{
			`{"task":{"status":"working"}}`,
			`{"task":{"taskId":1,"status":"working"}}`,
			`{"task":{"taskId":"","status":"working"}}`,
			`{"task":{"taskId":"a","taskID":"b","status":"working"}}`,
			`{"task":{"taskId":"` + strings.Repeat("a", 2000) + `","status":"working"}}`,
			`{"task":{"taskId":"a","status":"working"},"Task":{"taskId":"b","status":"working"}}`,
			`{"task":` + shown("taken", "working") + `}`,
		} {
			call := c.put("elicitation/create", asksTask)
			c.respond(c.questioned("elicitation/create").id, result)
			if r := c.heard(call); r.code() != "-32603" {
				t.Errorf("%s: %s", result, r.raw)
			}
		}
		for range 70 { // none of them has kept a place
			call := c.put("elicitation/create", asksTask)
			c.respond(c.questioned("elicitation/create").id, `{"task":{}}`)
			c.heard(call)
		}
		c.begins("another")
	})
}

// TestErrandAnsweredAtOnce: a client need not make a task, and may refuse.
func TestErrandAnsweredAtOnce(t *testing.T) {
	legacyLegs(t, func(t *testing.T, l leg) {
		s := inquisitive(t, nil)
		c := s.connect(l, makesErrands)
		for range 70 {
			call := c.put("elicitation/create", asksTask)
			c.respond(c.questioned("elicitation/create").id, nameGiven)
			differ(t, "answer", string(c.heard(call).result), nameGiven)
			call = c.put("elicitation/create", asksTask)
			q := c.questioned("elicitation/create")
			c.send([]byte(`{"jsonrpc":"2.0","id":`+q.id+`,"error":{"code":-1,"message":"no","data":1.0}}`), nil)
			differ(t, "error", string(c.heard(call).err), `{"code":-1,"message":"no","data":1.0}`)
		}
		c.begins("mine")
	})
}

// TestErrandUndeclared: a client that makes no tasks is asked as if none was
// wanted, for so it would read the question; but a server that was told of tasks
// hears that there will be none.
func TestErrandUndeclared(t *testing.T) {
	plain := strings.Replace(asksTask, `,"task":{"ttl":60000,"x":1E400}`, "", 1)
	eachLeg(t, func(t *testing.T, l leg) {
		s := inquisitive(t, nil)
		c := s.connect(l, `{"elicitation":{}}`)
		id := c.put("elicitation/create", asksTask)
		if l.modern {
			r := c.reply(id)
			differ(t, "question", at(r.result, "inputRequests", "request-1", "params"), plain)
			args := `{"method":"elicitation/create","params":` + asksTask + `}`
			id = c.callWith("put", args, "", `,"inputResponses":{"request-1":`+nameGiven+`},"requestState":`+at(r.result, "requestState"))
		} else {
			q := c.questioned("elicitation/create")
			differ(t, "question", string(q.params), plain)
			c.respond(q.id, nameGiven)
		}
		differ(t, "answer", string(c.heard(id).result), nameGiven)
		for _, method := range []string{"tasks/get", "tasks/result", "tasks/cancel", "tasks/list"} {
			if r := c.heard(c.put(method, `{"taskId":"x"}`)); r.code() != "-32601" {
				t.Errorf("%s: %s", method, r.raw)
			}
		}
		if l.modern {
			return // its upstream goes on in the newer era's words
		}
		s.connect(l, makesErrands)
		if r := c.heard(c.put("elicitation/create", asksTask)); r.code() != "-32601" || at(r.err, "message") != `"the client makes no tasks of elicitation/create"` {
			t.Errorf("%s", r.raw)
		}
		c.unasked("elicitation/create")
	})
}

// TestErrandCan: what a client has not declared of its tasks is not asked of it.
func TestErrandCan(t *testing.T) {
	legacyLegs(t, func(t *testing.T, l leg) {
		const some = `{"elicitation":{},"tasks":{"requests":{"elicitation":{"create":{}}}}}`
		s := inquisitive(t, nil)
		c := s.connect(l, some)
		id := c.begins("mine")
		for _, method := range []string{"tasks/cancel", "tasks/list"} {
			if r := c.heard(c.put(method, `{"taskId":"`+id+`"}`)); r.code() != "-32601" {
				t.Errorf("%s: %s", method, r.raw)
			}
			c.unasked(method)
		}
		s = inquisitive(t, nil)
		s.connect(l, makesErrands) // and for its sake the upstream is told of both
		c = s.connect(l, some)
		id = c.begins("mine")
		if r := c.heard(c.put("tasks/cancel", `{"taskId":"`+id+`"}`)); r.code() != "-32601" {
			t.Errorf("%s", r.raw)
		}
		if r := c.heard(c.put("tasks/list", `{}`)); at(r.result, "tasks") != "[]" {
			t.Errorf("%s", r.raw)
		}
		c.unasked("tasks/cancel")
	})
}

// TestErrandNews: what a client says of tasks that it runs for nobody, or that
// cannot be read, reaches no upstream.
func TestErrandNews(t *testing.T) {
	legacyLegs(t, func(t *testing.T, l leg) {
		s := inquisitive(t, nil)
		c, other := s.connect(l, makesErrands), s.connect(l, makesErrands)
		id := c.begins("mine")
		say := func(c *client, params string) {
			c.send([]byte(`{"jsonrpc":"2.0","method":"notifications/tasks/status","params":`+params+`}`), nil)
		}
		say(other, shown("mine", "completed"))
		say(c, shown(id, "completed"))
		say(c, shown("", "completed"))
		say(c, `{"taskId":"mine","status":7}`)
		say(c, `{}`)
		say(c, shown("mine", "working"))
		received := func() []fixture.Record { return s.log.Records(fixture.Received) }
		s.eventually("its upstream is told", func() bool { return told(received(), shown(id, "working")) })
		n := 0
		for _, r := range received() {
			if strings.Contains(string(r.Bytes), "notifications/tasks/status") {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%d notifications reached the upstream", n)
		}
	})
}

// TestErrandProgress: the upstream's token stays good as long as the task is
// under way, and is the upstream's own.
func TestErrandProgress(t *testing.T) {
	legacyLegs(t, func(t *testing.T, l leg) {
		s := inquisitive(t, nil)
		c := s.connect(l, makesErrands)
		call := c.put("elicitation/create", `{"message":"Who?","requestedSchema":{},"task":{},"_meta":{"progressToken":"theirs"}}`)
		q := c.questioned("elicitation/create")
		token := at(q.params, "_meta", "progressToken")
		c.respond(q.id, `{"task":`+shown("mine", "working")+`}`)
		id, _ := strconv.Unquote(at(c.heard(call).result, "task", "taskId"))
		note := func(token string, n int) {
			c.send([]byte(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":`+token+`,"progress":`+strconv.Itoa(n)+
				`,"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"mine"}}}}`), nil)
		}
		note(`"theirs"`, 1) // which it cannot know
		note(token, 2)
		progress := func() (list []string) {
			for _, r := range s.log.Records(fixture.Received) {
				if m := parseMessage(r.Bytes, 0); m.method == "notifications/progress" {
					list = append(list, string(m.params))
				}
			}
			return list
		}
		s.eventually("its upstream is told", func() bool { return len(progress()) > 0 })
		differ(t, "progress", strings.Join(progress(), ""), `{"progressToken":"theirs","progress":2,"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"`+id+`"}}}`)
	})
}

// TestErrandRelated: what a client calls for the sake of a task says so in the
// upstream's words, and to that upstream only.
func TestErrandRelated(t *testing.T) {
	legacyLegs(t, func(t *testing.T, l leg) {
		s := start(t, setup{policy: netPolicy(t), server: fixture.Options{Eras: fixture.Legacy, Tools: fixture.Asking()}, change: func(o *proxy.Options) {
			none := ""
			o.Upstreams[0].Prefix = &none
			o.Upstreams = append(o.Upstreams, serving(t, "spy", fixture.Options{Eras: fixture.Legacy, Tools: fixture.Attack()}))
		}})
		c := s.connect(l, makesErrands)
		id := c.begins("mine")
		related := func(name string) string {
			return `"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"` + name + `"}}`
		}
		c.reply(c.callWith("pid", `{}`, strings.TrimSuffix(strings.TrimPrefix(related("mine"), `"_meta":{`), "}"), ""))
		found := false
		for _, r := range s.log.Records(fixture.Received) {
			found = found || strings.Contains(string(r.Bytes), related(id)) && strings.Contains(string(r.Bytes), `"pid"`)
		}
		if !found {
			t.Error("the upstream was not told of its own task")
		}
	})
}

// TestErrandBound: a client runs so many tasks for an upstream and no more, also
// where they are asked for at once. Those that are over make room, and what one
// upstream wants takes no room from another.
func TestErrandBound(t *testing.T) {
	const room = 64
	legacyLegs(t, func(t *testing.T, l leg) {
		s := start(t, setup{policy: netPolicy(t), server: fixture.Options{Eras: fixture.Legacy, Tools: fixture.Asking()}, change: func(o *proxy.Options) {
			none := ""
			o.Upstreams[0].Prefix = &none
			o.Upstreams = append(o.Upstreams, serving(t, "other", fixture.Options{Eras: fixture.Legacy, Tools: fixture.Asking()}))
		}})
		c := s.connect(l, makesErrands)
		var calls []string
		for range room + 6 {
			calls = append(calls, c.put("elicitation/create", asksTask))
		}
		for i := range room {
			c.respond(c.questioned("elicitation/create").id, `{"task":`+shown("mine-"+strconv.Itoa(i), "working")+`}`)
		}
		made, refused := "", 0
		for _, call := range calls {
			r := c.heard(call)
			if r.result == nil {
				refused++
			} else {
				made, _ = strconv.Unquote(at(r.result, "task", "taskId"))
			}
		}
		if refused != 6 {
			t.Errorf("%d were refused", refused)
		}
		c.unasked("elicitation/create")
		call := c.call("other_put", `{"method":"elicitation/create","params":`+asksTask+`}`)
		c.respond(c.questioned("elicitation/create").id, `{"task":`+shown("for another", "working")+`}`)
		if r := c.heard(call); r.result == nil {
			t.Errorf("%s", r.raw)
		}
		call = c.put("tasks/result", `{"taskId":"`+made+`"}`)
		c.respond(c.questioned("tasks/result").id, nameGiven)
		c.heard(call)
		c.begins("one more")
		c.refusesErrand(made, "-32602") // it has made room
	})
}

// TestErrandOfNobody: a task ends with the session of its client, and who waits
// for it is told.
func TestErrandOfNobody(t *testing.T) {
	errandLegs(t, proxy.IsolateShared, func(t *testing.T, s *site, l leg, _ func() []fixture.Record) {
		c, other := s.connect(l, makesErrands), s.connect(l, makesErrands)
		c.listenToPushes()
		id := c.begins("mine")
		call := other.put("tasks/result", `{"taskId":"`+id+`"}`)
		c.questioned("tasks/result")
		c.close()
		if r := other.heard(call); at(r.err, "message") != `"the client is gone"` {
			t.Errorf("%s", r.raw)
		}
		other.refusesErrand(id, "-32602")
	})
}

// TestErrandForgotten: a task that its client does not know any more is gone.
func TestErrandForgotten(t *testing.T) {
	legacyLegs(t, func(t *testing.T, l leg) {
		s := inquisitive(t, nil)
		c := s.connect(l, makesErrands)
		for _, ask := range [][2]string{{"tasks/get", ""}, {"tasks/list", ""}} {
			id := c.begins("mine")
			call := c.put(ask[0], `{"taskId":"`+id+`"}`)
			q := c.questioned("tasks/get")
			c.send([]byte(`{"jsonrpc":"2.0","id":`+q.id+`,"error":{"code":-32602,"message":"no such task"}}`), nil)
			c.heard(call)
			c.refusesErrand(id, "-32602")
		}
	})
}

// TestErrandMistaken: what a client shows in place of a task is not passed on: it
// may be that of another server.
func TestErrandMistaken(t *testing.T) {
	legacyLegs(t, func(t *testing.T, l leg) {
		s := inquisitive(t, nil)
		c := s.connect(l, makesErrands)
		id := c.begins("mine")
		for _, result := range []string{shown("other", "completed"), `{}`, `{"taskId":"mine","TaskId":"x","status":"working"}`} {
			for _, method := range []string{"tasks/get", "tasks/cancel"} {
				call := c.put(method, `{"taskId":"`+id+`"}`)
				c.respond(c.questioned(method).id, result)
				if r := c.heard(call); r.code() != "-32603" || strings.Contains(string(r.raw), "completed") {
					t.Errorf("%s", r.raw)
				}
			}
		}
		call := c.put("tasks/list", `{}`) // shows what is known
		c.respond(c.questioned("tasks/get").id, shown("other", "completed"))
		differ(t, "list", string(c.heard(call).result), `{"tasks":[`+shown(id, "working")+`]}`)
	})
}

// TestErrandPages: an upstream is told of its tasks a page at a time.
func TestErrandPages(t *testing.T) {
	legacyLegs(t, func(t *testing.T, l leg) {
		s := inquisitive(t, nil)
		c := s.connect(l, makesErrands)
		for i := range 40 {
			c.begins("mine-" + strconv.Itoa(i))
		}
		pages := []int{32, 8}
		params, seen := `{}`, 0
		for i, size := range pages {
			call := c.put("tasks/list", params)
			for range size {
				q := c.questioned("tasks/get")
				name, _ := strconv.Unquote(at(q.params, "taskId"))
				c.respond(q.id, shown(name, "working"))
			}
			r := c.heard(call)
			seen += strings.Count(string(r.result), `"taskId"`)
			cursor := at(r.result, "nextCursor")
			if (cursor != "") != (i == 0) {
				t.Errorf("%s", r.raw)
			}
			params = `{"cursor":` + cursor + `}`
		}
		if seen != 40 {
			t.Errorf("%d tasks", seen)
		}
		if r := c.heard(c.put("tasks/list", `{"cursor":"x"}`)); r.code() != "-32602" {
			t.Errorf("%s", r.raw)
		}
	})
}

// TestErrandTakesTime: a call is not given up as long as its upstream waits for a
// task of the client; what has to be known soon is.
func TestErrandTakesTime(t *testing.T) {
	t.Parallel()
	legacyLegs(t, func(t *testing.T, l leg) {
		s := inquisitive(t, func(u *proxy.Upstream) { u.Timeout = 2 * time.Second }) // what is answered takes much less
		c, other := s.connect(l, makesErrands), s.connect(l, "")
		id := c.begins("mine")
		call := c.put("tasks/result", `{"taskId":"`+id+`"}`)
		q := c.questioned("tasks/result")
		if r := other.do("linger", `{}`); !strings.Contains(r.text(), "no answer within") { // which was sent later
			t.Errorf("%s", r.raw)
		}
		c.respond(q.id, nameGiven)
		differ(t, "result", string(c.heard(call).result), nameGiven)
		id = c.begins("another")
		call = c.put("tasks/get", `{"taskId":"`+id+`"}`)
		c.questioned("tasks/get")
		if r := c.heard(call); r.code() != "-32603" || !strings.Contains(string(r.raw), "the client gave no answer within 2s") {
			t.Errorf("%s", r.raw)
		}
		c.await("that it is not wanted any more", func(m message) bool { return m.method == "notifications/cancelled" })
	})
}
