package stdiofront

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"time"
)

// patience limits the wait for something that the recording contains.
const patience = 2 * time.Minute

// A transcript contains everything received in a replay.
type transcript struct {
	left          map[int]bool            // requests that the client has canceled, by number
	requests      []entry                 // the client's requests in order
	answers       map[int]json.RawMessage // by the number of the request
	asked         []json.RawMessage       // methods and params of requests to the client
	notifications []json.RawMessage       // methods and params of notifications
	missing       []string                // what the recording contains but the replay did not receive
}

// A player replays one conversation of a recording.
type player struct {
	in   io.Writer
	from <-chan []byte // lines from the server
	transcript

	numbers map[string]int             // maps the IDs in the recording to the numbers of the client's requests
	states  map[string]json.RawMessage // maps states in the recording to those that the server has created
	ids     map[string]json.RawMessage // maps the IDs in the recording to those of requests to the client
	open    []envelope                 // requests to the client that the recording has not reached yet
	heard   map[string]int             // number of notifications that it has not reached yet, by method
	ended   bool
}

// play runs a command and replays a conversation to it.
func play(command []string, conversation []entry) (transcript, error) {
	c := exec.Command(command[0], command[1:]...)
	in, err := c.StdinPipe()
	if err != nil {
		return transcript{}, err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return transcript{}, err
	}
	if err := c.Start(); err != nil {
		return transcript{}, fmt.Errorf("starting the server: %w", err)
	}
	t := converse(in, out, conversation)
	_ = c.Wait() // a server may end with any status
	return t, nil
}

// converse replays a conversation over a pair of streams, and closes the input at the end.
func converse(in io.WriteCloser, out io.Reader, conversation []entry) transcript {
	lines := make(chan []byte)
	go func() {
		defer close(lines)
		for r := bufio.NewReader(out); ; {
			line, err := r.ReadBytes('\n')
			if err != nil {
				return
			}
			lines <- bytes.TrimSpace(line)
		}
	}()
	p := &player{
		in: in, from: lines, transcript: transcript{answers: map[int]json.RawMessage{}, left: map[int]bool{}},
		numbers: map[string]int{}, states: map[string]json.RawMessage{}, ids: map[string]json.RawMessage{}, heard: map[string]int{},
	}
	for _, e := range conversation {
		if e.From == "client" {
			p.say(e)
		} else {
			p.expect(e)
		}
	}
	p.finish()
	_ = in.Close()
	for line := range lines {
		p.take(line)
	}
	return p.transcript
}

// finish waits for answers that the recording does not contain, because over HTTP they arrived when
// no one was listening any more.
func (p *player) finish() {
	p.await(func() bool {
		for i, r := range p.requests {
			if !p.left[i+1] && p.answers[i+1] == nil && r.read().Method != "subscriptions/listen" { // that request has no answer
				return false
			}
		}
		return true
	})
}

// say sends what the client has sent, with the IDs and states of this replay.
func (p *player) say(e entry) {
	m, message := e.read(), e.Message
	switch {
	case e.Left != nil: // over stdio, a client must say that it no longer wants the answer
		number := p.numbers[string(e.Left)]
		p.left[number] = true
		message = fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, number)
	case m.Method == "":
		id := p.ids[string(m.ID)]
		if id == nil {
			return // the server does not ask for this now, which has already been recorded
		}
		message = changed(message, "id", id)
	case m.Method == "notifications/cancelled":
		number := p.numbers[string(at(m.Params, "requestId"))]
		p.left[number] = true
		message = changed(message, "params", changed(m.Params, "requestId", json.RawMessage(strconv.Itoa(number))))
	case m.ID != nil:
		p.requests = append(p.requests, e)
		p.numbers[string(m.ID)] = len(p.requests)
		message = changed(message, "id", json.RawMessage(strconv.Itoa(len(p.requests))))
		if state := p.states[string(at(m.Params, "requestState"))]; state != nil {
			message = changed(message, "params", changed(m.Params, "requestState", state))
		}
	}
	_, _ = p.in.Write(append(message, '\n')) // if the server is gone, its silence will reveal that
}

// expect waits for a message from the server.
func (p *player) expect(e entry) {
	m := e.read()
	switch {
	case m.Method == "":
		number := p.numbers[string(m.ID)]
		if number == 0 {
			return // it does not answer a message that was understood
		}
		if !p.await(func() bool { return p.answers[number] != nil }) {
			p.missing = append(p.missing, "the answer to request "+strconv.Itoa(number))
			return
		}
		if old := at(m.Result, "requestState"); old != nil {
			p.states[string(old)] = at(p.answers[number], "result", "requestState")
		}
	case m.ID != nil:
		found := -1
		p.await(func() bool {
			for i, q := range p.open {
				if q.Method == m.Method {
					found = i
				}
			}
			return found >= 0
		})
		if found < 0 {
			p.missing = append(p.missing, m.Method)
			return
		}
		p.ids[string(m.ID)] = p.open[found].ID
		p.open = append(p.open[:found], p.open[found+1:]...)
	default:
		if !p.await(func() bool { return p.heard[m.Method] > 0 }) {
			p.missing = append(p.missing, m.Method)
			return
		}
		if !isNews(m.Method) {
			p.heard[m.Method]--
		}
	}
}

// await handles messages until ok returns true.
func (p *player) await(ok func() bool) bool {
	limit := time.NewTimer(patience)
	defer limit.Stop()
	for !ok() {
		if p.ended {
			return false
		}
		select {
		case line, more := <-p.from:
			if !more {
				p.ended = true
				continue
			}
			p.take(line)
		case <-limit.C:
			return false
		}
	}
	return true
}

// take stores a message from the server.
func (p *player) take(line []byte) {
	var m envelope
	if json.Unmarshal(line, &m) != nil {
		p.missing = append(p.missing, "a line that is no message: "+string(line))
		return
	}
	what := fmt.Appendf(nil, `{"method":%q,"params":%s}`, m.Method, append(m.Params, "null"[min(4, 4*len(m.Params)):]...))
	switch {
	case m.Method == "":
		number, _ := strconv.Atoi(string(m.ID))
		p.answers[number] = line
	case m.ID != nil:
		p.asked = append(p.asked, what)
		p.open = append(p.open, m)
	default:
		p.notifications = append(p.notifications, what)
		p.heard[m.Method]++
	}
}
