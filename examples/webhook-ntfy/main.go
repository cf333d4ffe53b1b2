// Webhook-ntfy shows petrigate's approval requests on a phone, using ntfy (https://ntfy.sh or a
// server of your own). The notification has buttons to approve and deny.
//
// It is configured with environment variables:
//
//	PETRIGATE_HOOK_SECRET  the secret of approval.webhook
//	NTFY_URL               the topic, such as https://ntfy.example.com/approvals
//	NTFY_TOKEN             access token for a protected topic; may be empty
//	LISTEN                 address that petrigate posts to; 127.0.0.1:7782 if empty
package main

import (
	"bytes"
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
)

func main() {
	g, err := newGlue(os.Getenv)
	if err != nil {
		log.Fatal(err)
	}
	server := &http.Server{Addr: cmp.Or(os.Getenv("LISTEN"), "127.0.0.1:7782"), Handler: g, ReadTimeout: 10 * time.Second}
	log.Fatal(server.ListenAndServe())
}

// glue handles posts from petrigate and publishes them as notifications.
type glue struct {
	secret, server, topic, token string
	client                       *http.Client
}

func newGlue(env func(string) string) (*glue, error) {
	at, err := url.Parse(env("NTFY_URL"))
	if err != nil || at.Host == "" || len(at.Path) < 2 || len(env("PETRIGATE_HOOK_SECRET")) < 16 {
		return nil, errors.New("NTFY_URL must be the URL of a topic, and PETRIGATE_HOOK_SECRET must have 16 bytes or more")
	}
	g := &glue{secret: env("PETRIGATE_HOOK_SECRET"), token: env("NTFY_TOKEN"), topic: at.Path[strings.LastIndex(at.Path, "/")+1:]}
	g.server = strings.TrimSuffix(at.String(), g.topic)
	g.client = &http.Client{Timeout: 5 * time.Second}
	return g, nil
}

// A message contains the parts of an approval request that are needed on the phone.
type message struct {
	Event, ID, State, Tool, Upstream, Client, Question, Actor, Approve, Deny string

	ArgumentsLeftOut bool
}

const maxBody = 1 << 20

// ServeHTTP handles a post from petrigate. petrigate retries the post unless the response has a 2xx
// status.
func (g *glue) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil || r.Method != http.MethodPost || !verify(g.secret, r.Header.Get("X-Petrigate-Signature"), body, time.Now()) {
		http.Error(w, "not from petrigate", http.StatusUnauthorized)
		return
	}
	var m message
	if err := json.Unmarshal(body, &m); err != nil {
		http.Error(w, "not a message", http.StatusBadRequest)
		return
	}
	if err := g.publish(notificationOf(m)); err != nil {
		log.Print(err)
		http.Error(w, "ntfy does not accept it", http.StatusBadGateway)
		return
	}
	w.WriteHeader(http.StatusAccepted)
}

// verify checks a signature of the form t=<seconds>,v1=<HMAC-SHA256 of the seconds, a dot and the
// body>.
func verify(secret, header string, body []byte, now time.Time) bool {
	t, sum, ok := strings.Cut(strings.TrimPrefix(header, "t="), ",v1=")
	seconds, err := strconv.ParseInt(t, 10, 64)
	given, bad := hex.DecodeString(sum)
	if !ok || err != nil || bad != nil || now.Sub(time.Unix(seconds, 0)).Abs() > 5*time.Minute {
		return false
	}
	mac := hmac.New(sha256.New, []byte(secret))
	_, _ = io.WriteString(mac, t+".")
	mac.Write(body)
	return hmac.Equal(given, mac.Sum(nil))
}

// A notification is an ntfy message; see https://docs.ntfy.sh/publish/#publish-as-json.
type notification struct {
	Topic    string   `json:"topic"`
	Title    string   `json:"title"`
	Message  string   `json:"message"`
	Priority int      `json:"priority"`
	Tags     []string `json:"tags,omitempty"`
	Actions  []action `json:"actions,omitempty"`
}

// An action is a button in a notification.
type action struct {
	Action string `json:"action"`
	Label  string `json:"label"`
	URL    string `json:"url"`
	Method string `json:"method,omitempty"`
	Clear  bool   `json:"clear,omitempty"`
}

// maxShown is the maximum length of the question in a notification, in bytes. Because a hint is
// added to a truncated question, the maximum is lower than ntfy's limit of 4096 bytes for a
// message.
const maxShown = 3500

func notificationOf(m message) notification {
	if m.Event != "asked" {
		text := m.ID + " is " + m.State
		if m.Actor != "" {
			text += ", by " + m.Actor
		}
		return notification{Title: m.Tool + " on " + m.Upstream, Message: text, Priority: 2}
	}
	n := notification{Title: "Allow " + m.Tool + " on " + m.Upstream + "?", Message: m.Question, Priority: 4, Tags: []string{"raised_hand"}}
	deny := action{Action: "http", Label: "Deny", URL: m.Deny, Method: http.MethodPost, Clear: true}
	look := action{Action: "view", Label: "Look", URL: m.Approve}
	if len(m.Question) > maxShown || m.ArgumentsLeftOut { // the notification cannot show the whole question, so link to the approval page instead of offering to approve
		n.Message = strings.ToValidUTF8(m.Question[:min(len(m.Question), maxShown)], "") + "\n\nThis is not all of it: look before you approve."
		n.Actions = []action{look, deny}
		return n
	}
	n.Actions = []action{{Action: "http", Label: "Approve", URL: m.Approve, Method: http.MethodPost, Clear: true}, deny, look}
	return n
}

func (g *glue) publish(n notification) error {
	n.Topic = g.topic
	body, err := json.Marshal(n)
	if err != nil {
		return err
	}
	r, err := http.NewRequest(http.MethodPost, g.server, bytes.NewReader(body))
	if err != nil {
		return errors.New("the URL of the server cannot be used")
	}
	if g.token != "" {
		r.Header.Set("Authorization", "Bearer "+g.token)
	}
	response, err := g.client.Do(r)
	if err != nil {
		return fmt.Errorf("publishing: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode/100 != 2 {
		return fmt.Errorf("publishing: %s", response.Status)
	}
	return nil
}
