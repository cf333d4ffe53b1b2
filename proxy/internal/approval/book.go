package approval

import (
	"cmp"
	"crypto/rand"
	"encoding/base32"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/petrigate/petrigate/gate"
)

// maxQuestions bounds the questions that wait at one time.
const maxQuestions = 10_000

// A Book holds every question. A consent is used up once, under its lock.
type Book struct {
	expire   time.Duration
	channels []string // that are configured
	now      func() time.Time

	mu    sync.Mutex
	byID  map[string]*Question
	byKey map[Key]*Question // the pending or approved one
}

// NewBook makes a book whose questions, and consents, are good for a time, and
// are answered by the channels alone.
func NewBook(expire time.Duration, channels []string, now func() time.Time) *Book {
	return &Book{expire: expire, channels: channels, now: now, byID: map[string]*Question{}, byKey: map[Key]*Question{}}
}

var errTooMany = errors.New("too many approvals are waiting")

// Open joins the question that waits for key, or the answer that is good for
// it, or else makes a new question. The caller waits on it and must Leave it.
func (b *Book) Open(key Key, call Call, ask *gate.Ask) (*Question, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sweep()
	if q := b.byKey[key]; q != nil {
		q.waiters++
		if q.answer.State == Denied {
			delete(b.byKey, key) // told once
		}
		return q, nil
	}
	if len(b.byKey) >= maxQuestions {
		return nil, errTooMany
	}
	via, err := viaOf(ask)
	if err != nil {
		return nil, err
	}
	now := b.now()
	q := &Question{
		ID: b.newID(), Key: key, Call: call, Ask: ask, Via: via, Created: now, Expires: now.Add(b.expire),
		answer: Answer{State: Pending}, waiters: 1, answered: make(chan struct{}),
	}
	for _, channel := range b.channels {
		if via == "" || via == channel {
			q.channels = append(q.channels, channel)
		}
	}
	if q.Allows(CLI) {
		q.open = []string{CLI} // operators see every question of the book
	}
	b.byID[q.ID], b.byKey[key] = q, q
	return q, nil
}

// newID is short enough to type and is not guessed in the life of a question.
func (b *Book) newID() string {
	for {
		var random [5]byte
		if _, err := rand.Read(random[:]); err != nil {
			panic(err)
		}
		id := "ap_" + base32.StdEncoding.EncodeToString(random[:])
		if b.byID[id] == nil {
			return id
		}
	}
}

// Leave ends one wait. A question that nobody waits for or was told to come
// back to is withdrawn.
func (b *Book) Leave(q *Question, parked bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	q.waiters--
	q.parked = q.parked || parked
	if q.waiters == 0 && !q.parked && q.answer.State == Pending {
		b.finish(q, Withdrawn)
	}
}

// Put notes that q is put to a person by the channel, and reports false where
// it may not be. No answer counts that comes by a channel where q was not put.
func (b *Book) Put(q *Question, channel string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if q.Allows(channel) && !slices.Contains(q.open, channel) {
		q.open = append(q.open, channel)
	}
	return q.Allows(channel)
}

// Answer notes what a person said. The first answer stands. It is the one door
// for answers of all channels: one counts only by a channel that is configured,
// that the rules of the question allow, and where this very question was put.
func (b *Book) Answer(id string, approve bool, channel, actor, reason string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sweep()
	q := b.byID[id]
	switch {
	case q == nil:
		return fmt.Errorf("no approval %s is waiting", id)
	case q.answer.State != Pending:
		return fmt.Errorf("approval %s is %s already", id, q.answer.State)
	case q.Via != "" && q.Via != channel:
		return fmt.Errorf("approval %s is to be answered via %s only: its rule says so", id, q.Via)
	case !slices.Contains(q.open, channel):
		return fmt.Errorf("approval %s was not put to anybody where this answer comes from", id)
	}
	q.answer.Channel, q.answer.Actor, q.answer.Reason = channel, actor, reason
	if !approve {
		b.finish(q, Denied)
		return nil
	}
	q.answer.State = Approved
	close(q.answered)
	return nil
}

// Redeem uses q up for one call: commit decides it, and q is consumed only if
// commit says that it was let through. The lock makes that one step, so that
// two calls never share a consent; commit must not wait. It reports false
// where q is no consent any more, and commit was not called.
func (b *Book) Redeem(q *Question, commit func() bool) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sweep()
	if q.answer.State != Approved {
		return false
	}
	if commit() {
		b.finish(q, Consumed)
	}
	return true
}

// Status is where q stands now.
func (b *Book) Status(q *Question) Answer {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sweep()
	return q.answer
}

// MarkUnasked notes that by the channel, where q was put, nobody was shown it.
// Where no other channel is open, that ends it.
func (b *Book) MarkUnasked(q *Question, channel string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	at := slices.Index(q.open, channel)
	if at < 0 {
		return
	}
	q.unasked = true
	q.open = slices.Delete(q.open, at, at+1)
	if q.answer.State == Pending && len(q.open) == 0 {
		b.finish(q, Withdrawn)
	}
}

// WasUnasked reports whether a channel showed the question to nobody.
func (b *Book) WasUnasked(q *Question) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return q.unasked
}

// Show reports whether the caller is to show q to the client: calls that ask
// the same make one prompt.
func (b *Book) Show(q *Question) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	first := !q.shown
	q.shown = true
	return first
}

// Unshow notes that the call whose prompt it was is gone, and the prompt with it.
func (b *Book) Unshow(q *Question) {
	b.mu.Lock()
	defer b.mu.Unlock()
	q.shown = false
}

// sweep ends what is past its time, and forgets what ended long ago.
func (b *Book) sweep() {
	now := b.now()
	for id, q := range b.byID {
		switch {
		case now.Before(q.Expires):
		case q.answer.State == Pending || q.answer.State == Approved:
			b.finish(q, Expired)
		case now.After(q.Expires.Add(b.expire)):
			delete(b.byID, id)
		}
	}
}

// finish puts q into a final state. A denial of a parked call is kept for the
// call that comes back for the answer.
func (b *Book) finish(q *Question, s State) {
	if q.answer.State == Pending {
		close(q.answered)
	}
	q.answer.State = s
	if told := q.waiters > 0 || !q.parked; b.byKey[q.Key] == q && (s != Denied || told) {
		delete(b.byKey, q.Key)
	}
}

// Waiting is how many questions wait for an answer.
func (b *Book) Waiting() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sweep()
	n := 0
	for _, q := range b.byID {
		if q.answer.State == Pending {
			n++
		}
	}
	return n
}

// A Standing is a question and where it stands.
type Standing struct {
	Question *Question
	Answer   Answer
}

// List is every question that is kept, oldest first.
func (b *Book) List() []Standing {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sweep()
	all := make([]Standing, 0, len(b.byID))
	for _, q := range b.byID {
		all = append(all, Standing{q, q.answer})
	}
	slices.SortFunc(all, func(x, y Standing) int {
		return cmp.Or(x.Question.Created.Compare(y.Question.Created), cmp.Compare(x.Question.ID, y.Question.ID))
	})
	return all
}
