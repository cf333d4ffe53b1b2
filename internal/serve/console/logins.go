package console

import (
	"crypto/rand"
	"crypto/sha256"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	codeTime    = 5 * time.Minute // validity of a login code
	sessionTime = 12 * time.Hour  // validity of a cookie after the last request
	maxCodes    = 100             // valid at the same time
	maxSessions = 100
	maxForm     = 1 << 20 // bytes
)

// A Person is the person that a browser is logged in as.
type Person struct {
	Name string // name for the audit log
	ID   string // identifies the person, as far as the command line can prove it
}

// A session is one browser that is logged in.
type session struct {
	person Person
	token  string // required in each of its forms
	used   time.Time

	notes []note // shown on its next page
}

// logins holds login codes and browser sessions. It stores codes and cookies only as hashes.
type logins struct {
	hosts []string
	now   func() time.Time
	cross *http.CrossOriginProtection

	mu       sync.Mutex
	codes    map[[32]byte]loginCode
	sessions map[[32]byte]*session
}

// A loginCode is a code that was issued.
type loginCode struct {
	person  Person
	expires time.Time
}

func newLogins(hosts []string, now func() time.Time) *logins {
	return &logins{hosts: hosts, now: now, cross: http.NewCrossOriginProtection(), codes: map[[32]byte]loginCode{}, sessions: map[[32]byte]*session{}}
}

func hashOf(secret string) [32]byte { return sha256.Sum256([]byte(secret)) }

// newCode issues a login code.
func (d *logins) newCode(p Person) string {
	code := rand.Text()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.dropExpired()
	if len(d.codes) >= maxCodes {
		clear(d.codes) // too many unused codes: drop all
	}
	d.codes[hashOf(code)] = loginCode{p, d.now().Add(codeTime)}
	return code
}

// dropExpired removes expired codes and sessions. The caller must hold the lock.
func (d *logins) dropExpired() {
	now := d.now()
	for h, c := range d.codes {
		if !now.Before(c.expires) {
			delete(d.codes, h)
		}
	}
	for h, s := range d.sessions {
		if now.Sub(s.used) >= sessionTime {
			delete(d.sessions, h)
		}
	}
}

// redeem exchanges a code for the value of a cookie and invalidates the code. It returns "" if the
// code is invalid.
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

// dropOldest removes the session that was used longest ago. The caller must hold the lock.
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

// A visitor is the sender of a request.
type visitor struct {
	Person
	Token string // token for forms
}

// visitorFor returns the visitor with the cookie, or false.
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

// endSession ends the session of a cookie.
func (d *logins) endSession(cookie string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.sessions, hashOf(cookie))
}

// A note is the result of a form.
type note struct {
	Line  string
	Wrong bool // the order failed
}

// addNote adds a note to the next page of the browser. err marks the note as a failure.
func (d *logins) addNote(r *http.Request, line string, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if s := d.sessions[hashOf(cookieOf(r))]; s != nil && len(s.notes) < 100 {
		s.notes = append(s.notes, note{line, err != nil})
	}
}

// takeNotes returns and removes the notes for this page. A script that loads the page only to look
// for changes leaves them; a script that replaces the page takes them.
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

// isAllowedHost reports whether browsers may use this host name for the console.
func (d *logins) isAllowedHost(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = host
	}
	return slices.ContainsFunc(d.hosts, func(h string) bool { return strings.EqualFold(h, host) || strings.EqualFold(h, name) })
}

// cookieName returns the name of the cookie. It contains the port, because browsers separate
// cookies by host but not by port.
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
