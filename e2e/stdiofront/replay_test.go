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

// patience bounds the wait for what came in the recording.
const patience = 2 * time.Minute

// A transcript is what came back in a replay.
type transcript struct {
	left          map[int]bool            // requests that the client gave up, by number
	requests      []entry                 // of the client, in order
	answers       map[int]json.RawMessage // by the number of the request
	asked         []json.RawMessage       // method and params of requests to the client
	notifications []json.RawMessage       // method and params
	missing       []string                // what came in the recording and not now
}

// A player sends one conversation of a recording again.
type player struct {
	in   io.Writer
	from <-chan []byte // lines of the server
	transcript

	numbers map[string]int             // of the client's requests, by the id in the recording
	states  map[string]json.RawMessage // that servers have made, by what the recording has
	ids     map[string]json.RawMessage // of requests to the client, by the id in the recording
	open    []envelope                 // requests to the client that the recording has not come to
	heard   map[string]int             // notifications that it has not come to, by method
	ended   bool
}

// play runs a command and replays a conversation with it.
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
	_ = c.Wait() // a server may end as it likes
	return t, nil
}

// converse replays a conversation over a pair of streams, and closes the input
// when all has been said.
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

// finish waits for answers that the recording does not have: over HTTP they came
// where nobody listened any more.
func (p *player) finish() {
	p.await(func() bool {
		for i, r := range p.requests {
			if !p.left[i+1] && p.answers[i+1] == nil && r.read().Method != "subscriptions/listen" { // which has none
				return false
			}
		}
		return true
	})
}

// say sends what the client said, with the ids and states of this replay.
func (p *player) say(e entry) {
	m, message := e.read(), e.Message
	switch {
	case e.Left != nil: // over stdio a client says that it does not want the answer
		number := p.numbers[string(e.Left)]
		p.left[number] = true
		message = fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, number)
	case m.Method == "":
		id := p.ids[string(m.ID)]
		if id == nil {
			return // nobody asks that now, which is noted already
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
	_, _ = p.in.Write(append(message, '\n')) // a server that is gone is found by its silence
}

// expect waits for what the server said.
func (p *player) expect(e entry) {
	m := e.read()
	switch {
	case m.Method == "":
		number := p.numbers[string(m.ID)]
		if number == 0 {
			return // it answers nothing that was understood
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

// await takes messages until ok.
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

// take keeps one message of the server.
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
