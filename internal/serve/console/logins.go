package console

import (
	"crypto/rand"
	"crypto/sha256"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	codeTime    = 5 * time.Minute // lifetime of a login code
	sessionTime = 12 * time.Hour  // how long a cookie is valid after its last use
	maxCodes    = 100             // maximum number of codes that are valid at the same time
	maxSessions = 100
	maxForm     = 1 << 20 // maximum form size in bytes
)

// A Person identifies the user of a logged-in browser.
type Person struct {
	Name string // name to write to the audit log
	ID   string // the person's identity, as determined by the command that created the login code
}

// A session represents a logged-in browser.
type session struct {
	person Person
	token  string // token that each form of the session must contain
	used   time.Time

	notes []note // notes to show on the session's next page
}

// logins holds login codes and browser sessions. It stores only hashes of the codes and cookies.
type logins struct {
	hosts []string
	now   func() time.Time
	cross *http.CrossOriginProtection

	mu       sync.Mutex
	codes    map[[32]byte]loginCode
	sessions map[[32]byte]*session
}

// A loginCode is an issued code that has not been used.
type loginCode struct {
	person  Person
	expires time.Time
}

func newLogins(hosts []string, now func() time.Time) *logins {
	return &logins{hosts: hosts, now: now, cross: http.NewCrossOriginProtection(), codes: map[[32]byte]loginCode{}, sessions: map[[32]byte]*session{}}
}

func hashOf(secret string) [32]byte { return sha256.Sum256([]byte(secret)) }

func (d *logins) newCode(p Person) string {
	code := rand.Text()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.dropExpired()
	if len(d.codes) >= maxCodes {
		clear(d.codes) // too many unused codes, so drop them all
	}
	d.codes[hashOf(code)] = loginCode{p, d.now().Add(codeTime)}
	return code
}

// dropExpired removes the codes and sessions that have expired. The caller must hold the lock.
func (d *logins) dropExpired() {
	now := d.now()
	maps.DeleteFunc(d.codes, func(_ [32]byte, c loginCode) bool { return !now.Before(c.expires) })
	maps.DeleteFunc(d.sessions, func(_ [32]byte, s *session) bool { return now.Sub(s.used) >= sessionTime })
}

// redeem invalidates the code and starts a session. It returns the value of the session's cookie,
// or "" if the code is invalid.
func (d *logins) redeem(code string) (cookie string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.dropExpired()
	h := hashOf(code)
	c, ok := d.codes[h]
	if !ok {
		return ""
	}
	delete(d.codes, h)
	if len(d.sessions) >= maxSessions {
		d.dropOldest()
	}
	cookie = rand.Text()
	d.sessions[hashOf(cookie)] = &session{person: c.person, token: rand.Text(), used: d.now()}
	return cookie
}

// dropOldest removes the least recently used session. The caller must hold the lock.
func (d *logins) dropOldest() {
	var oldest [32]byte
	var at time.Time
	for h, s := range d.sessions {
		if at.IsZero() || s.used.Before(at) {
			oldest, at = h, s.used
		}
	}
	delete(d.sessions, oldest)
}

// A visitor is the person who sent a request, along with the token of the person's browser session.
type visitor struct {
	Person
	Token string // token to include in forms
}

// visitorFor returns the visitor whose browser session has the given cookie. ok is false if the
// cookie is invalid.
func (d *logins) visitorFor(cookie string) (v visitor, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.dropExpired()
	s := d.sessions[hashOf(cookie)]
	if s == nil {
		return v, false
	}
	s.used = d.now()
	return visitor{s.person, s.token}, true
}

// endSession ends the session that has the given cookie.
func (d *logins) endSession(cookie string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.sessions, hashOf(cookie))
}

// A note tells the person how a submitted form was handled.
type note struct {
	Line  string
	Wrong bool // whether the note reports a failure
}

// addNote adds a note to the next page that the browser loads. A non-nil err marks it as a failure.
func (d *logins) addNote(r *http.Request, line string, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if s := d.sessions[hashOf(cookieOf(r))]; s != nil && len(s.notes) < 100 {
		s.notes = append(s.notes, note{line, err != nil})
	}
}

// takeNotes returns and removes the notes to show on the requested page. If a script requests the
// page only to detect changes, takeNotes returns nothing and keeps the notes for later.
func (d *logins) takeNotes(r *http.Request) (lines []note) {
	if dest := r.Header.Get("Sec-Fetch-Dest"); dest != "" && dest != "document" && r.Header.Get("Petrigate-Shows") != "page" {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if s := d.sessions[hashOf(cookieOf(r))]; s != nil {
		lines, s.notes = s.notes, nil
	}
	return lines
}

// isAllowedHost reports whether browsers may use the given host to reach the console.
func (d *logins) isAllowedHost(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = host
	}
	return slices.ContainsFunc(d.hosts, func(h string) bool { return strings.EqualFold(h, host) || strings.EqualFold(h, name) })
}

// cookieName returns the name of the session cookie. The name includes the port, because browsers
// do not separate cookies by port.
func cookieName(host string) string {
	if _, port, err := net.SplitHostPort(host); err == nil {
		return "petrigate_" + port
	}
	return "petrigate"
}

func cookieOf(r *http.Request) string {
	c, err := r.Cookie(cookieName(r.Host))
	if err != nil {
		return ""
	}
	return c.Value
}
