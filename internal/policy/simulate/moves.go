package simulate

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/sandbox"
)

// makeCall makes the call written in text.
func (m *Simulator) makeCall(text string) error {
	c, err := oneCall(text)
	if err != nil {
		return err
	}
	m.perform(move{word: "call", call: c, of: len(m.calls) + 1})
	return nil
}

// endCall ends a call or answers its approval request.
func (m *Simulator) endCall(word, text string) error {
	wants, otherwise := callRuns, "write approve or deny"
	if word == "approve" || word == "deny" {
		wants, otherwise = callWaits, "write succeed, fail or unknown"
	}
	text, says, err := result(word, text)
	if err != nil {
		return err
	}
	number, err := m.latest(wants, text)
	if err != nil {
		return err
	}
	switch c := m.calls[number-1]; c.state {
	case wants:
		m.perform(move{word: word, of: number, says: says})
		return nil
	case callRuns, callWaits:
		return fmt.Errorf("call %d %s: %s", number, c.progress(), otherwise)
	default:
		return fmt.Errorf("call %d %s", number, c.progress())
	}
}

// result splits the text after a command into the number of the call and, for a successful call,
// its optional result.
func result(word, text string) (number string, says json.RawMessage, err error) {
	i := strings.IndexAny(text, "{[\"")
	if word != "succeed" || i < 0 {
		return text, nil, nil
	}
	number, written := strings.TrimSpace(text[:i]), text[i:]
	if !json.Valid([]byte(written)) {
		return "", nil, fmt.Errorf("the result is not JSON: %s", written)
	}
	return number, json.RawMessage(written), nil
}

// latest returns the number of the call that a command refers to. If text is not empty, it is the
// number. Otherwise, latest returns the latest call in the wanted state. If no call is in that
// state, it returns the latest call that has not ended.
func (m *Simulator) latest(wants callState, text string) (int, error) {
	if text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > len(m.calls) {
			return 0, fmt.Errorf("unknown call %s; status lists the open calls", text)
		}
		return n, nil
	}
	open := 0
	for i := len(m.calls); i > 0; i-- {
		switch state := m.calls[i-1].state; {
		case state == wants:
			return i, nil
		case open == 0 && (state == callRuns || state == callWaits):
			open = i
		}
	}
	if open == 0 {
		return 0, errors.New("no call is open; make one with: call NAME")
	}
	return open, nil
}

// letTimePass advances the simulated time.
func (m *Simulator) letTimePass(text string) error {
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return fmt.Errorf("invalid duration %q; write a duration such as 2m or 1h30m", text)
	}
	m.perform(move{word: "after", time: d})
	return nil
}

// undo undoes the last move. It replays all earlier moves in a new session.
func (m *Simulator) undo() error {
	if len(m.moves) == 0 {
		return errors.New("no command to undo")
	}
	last := m.moves[len(m.moves)-1]
	again := m.moves[:len(m.moves)-1]
	before := m.of.session.Nets()
	m.of.restart()
	m.moves, m.calls = nil, nil
	for _, mv := range again {
		m.apply(mv)
	}
	m.printf("undone: %s\n", last)
	m.printChanges(before)
	m.printCallable()
	return nil
}

// perform makes a move and prints its effect.
func (m *Simulator) perform(mv move) {
	before := m.of.session.Nets()
	m.apply(mv)
	m.printResult(mv)
	m.printChanges(before)
	m.printCallable()
}

// apply makes a move without printing its effect.
func (m *Simulator) apply(mv move) {
	m.moves = append(m.moves, mv)
	st, id := m.of, strconv.Itoa(mv.of)
	switch mv.word {
	case "call":
		c := &trackedCall{written: mv.call}
		m.calls = append(m.calls, c)
		c.decided(st.session.Call(st.newCall(mv.call, mv.of), sandbox.Later))
	case "approve":
		if c := m.calls[mv.of-1]; c.addApproval() {
			c.decided(st.session.Answer(id, sandbox.Yes))
		}
	case "deny":
		m.calls[mv.of-1].decided(st.session.Answer(id, sandbox.No))
	case "after":
		st.box.Wait(mv.time)
		st.session.Tick(st.box.Now())
	default:
		outcome := endings[mv.word].outcome
		st.session.Return(id, gate.End{Outcome: outcome, Result: mv.says})
		if outcome != gate.Unknown {
			m.calls[mv.of-1].state = callEnded
		}
	}
}
