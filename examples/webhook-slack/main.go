// Webhook-slack shows petrigate's approval requests in a Slack channel. Each message shows the
// call, with buttons to approve and deny.
//
// It is configured with environment variables:
//
//	PETRIGATE_HOOK_SECRET  the secret of approval.webhook
//	SLACK_BOT_TOKEN        token of the app, with the scope chat:write
//	SLACK_SIGNING_SECRET   the app's signing secret, for verifying requests to /slack
//	SLACK_CHANNEL          ID of the channel
//	SLACK_APPROVERS        comma-separated IDs of the users who may answer; the whole channel if empty
//	LISTEN                 address of /petrigate (for petrigate) and /slack (for Slack); 127.0.0.1:7782 if empty
package main

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

func main() {
	g, err := newGlue(os.Getenv)
	if err != nil {
		log.Fatal(err)
	}
	server := &http.Server{Addr: cmp.Or(os.Getenv("LISTEN"), "127.0.0.1:7782"), Handler: g.handler(), ReadTimeout: 10 * time.Second}
	log.Fatal(server.ListenAndServe())
}

// glue handles requests from petrigate and from Slack.
type glue struct {
	secret, signing string
	approvers       []string // IDs of the users who may answer; nil means everyone in the channel
	slack           *slack

	showing sync.Mutex // held while a post from petrigate is handled
	asked   sync.Map   // questions that have been shown, keyed by approval ID
}

// A question is an approval request shown in the channel.
type question struct {
	message
	posted string // timestamp, which identifies the message in Slack
}

// A message contains the parts of an approval request that are needed in Slack.
type message struct {
	Event, ID, State, Tool, Upstream, Question, Actor, Nonce, Answer, Approve string

	ArgumentsLeftOut bool
}

func newGlue(env func(string) string) (*glue, error) {
	g := &glue{secret: env("PETRIGATE_HOOK_SECRET"), signing: env("SLACK_SIGNING_SECRET")}
	g.slack = &slack{
		api: cmp.Or(env("SLACK_API"), "https://slack.com/api/"), token: env("SLACK_BOT_TOKEN"), channel: env("SLACK_CHANNEL"),
		client: &http.Client{Timeout: 5 * time.Second},
	}
	if who := env("SLACK_APPROVERS"); who != "" {
		g.approvers = strings.Split(who, ",")
	}
	if len(g.secret) < 16 || g.signing == "" || g.slack.token == "" || g.slack.channel == "" {
		return nil, errors.New("PETRIGATE_HOOK_SECRET (16 bytes or more), SLACK_BOT_TOKEN, SLACK_SIGNING_SECRET and SLACK_CHANNEL are required")
	}
	return g, nil
}

func (g *glue) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /petrigate", g.fromPetrigate)
	mux.HandleFunc("POST /slack", g.fromSlack)
	return mux
}

const maxBody = 1 << 20

// fromPetrigate shows a new question, or updates a question that has ended. petrigate retries the
// post unless the response has a 2xx status.
func (g *glue) fromPetrigate(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	t, sum, _ := strings.Cut(strings.TrimPrefix(r.Header.Get("X-Petrigate-Signature"), "t="), ",v1=")
	if err != nil || !isRecent(t) || !equal(sum, mac(g.secret, t+"."+string(body))) {
		http.Error(w, "not from petrigate", http.StatusUnauthorized)
		return
	}
	var m message
	if err := json.Unmarshal(body, &m); err != nil {
		http.Error(w, "not a message", http.StatusBadRequest)
		return
	}
	if err := g.show(m); err != nil {
		log.Print(err)
		http.Error(w, "Slack does not accept it", http.StatusBadGateway)
		return
	}
	w.WriteHeader(http.StatusAccepted)
}

func (g *glue) show(m message) error {
	g.showing.Lock() // hold the lock, because the end of a question could otherwise arrive before there is a message to update
	defer g.showing.Unlock()
	q, known := g.find(m.ID)
	switch {
	case m.Event == "asked" && !known: // ignore repeated posts
		g.asked.Store(m.ID, question{message: m}) // store the question before anyone can press a button
		posted, err := g.slack.post(m)
		if err != nil {
			g.asked.Delete(m.ID)
			return err
		}
		g.asked.Store(m.ID, question{m, posted})
	case m.Event == "ended" && known:
		if err := g.slack.end(q.posted, m); err != nil {
			return err
		}
		g.asked.Delete(m.ID)
	}
	return nil
}

func (g *glue) find(id string) (q question, known bool) {
	shown, _ := g.asked.Load(id)
	q, known = shown.(question)
	return q, known
}

// An interaction is the press of a button.
type interaction struct {
	Type    string
	User    struct{ ID string }
	Actions []struct {
		Action string `json:"action_id"`
		Value  string
	}
}

// fromSlack handles a pressed button and forwards a signed answer to petrigate.
func (g *glue) fromSlack(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	t := r.Header.Get("X-Slack-Request-Timestamp")
	given, isVersion0 := strings.CutPrefix(r.Header.Get("X-Slack-Signature"), "v0=")
	if err != nil || !isVersion0 || !isRecent(t) || !equal(given, mac(g.signing, "v0:"+t+":"+string(body))) {
		http.Error(w, "not from Slack", http.StatusUnauthorized)
		return
	}
	form, err := url.ParseQuery(string(body))
	var i interaction
	if err != nil || json.Unmarshal([]byte(form.Get("payload")), &i) != nil || i.Type != "block_actions" || len(i.Actions) != 1 || i.User.ID == "" {
		http.Error(w, "not a button", http.StatusBadRequest)
		return
	}
	q, known := g.find(i.Actions[0].Value)
	decision := i.Actions[0].Action
	if known && (decision == "approve" || decision == "deny") {
		g.answer(q, decision, i.User.ID)
	}
}

// answer posts a user's decision to petrigate. The user is identified by ID, since names can
// change.
func (g *glue) answer(q question, decision, user string) {
	if g.approvers != nil && !slices.Contains(g.approvers, user) {
		g.slack.tell(user, "You are not among those who may answer "+q.ID+".")
		return
	}
	body, err := json.Marshal(map[string]string{"id": q.ID, "nonce": q.Nonce, "decision": decision, "actor": "slack:" + user})
	if err != nil {
		log.Print(err)
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second) // Slack waits at most 3 seconds
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, q.Answer, strings.NewReader(string(body)))
	if err != nil {
		log.Print(err)
		return
	}
	t := strconv.FormatInt(time.Now().Unix(), 10)
	r.Header.Set("X-Petrigate-Signature", "t="+t+",v1="+mac(g.secret, t+"."+string(body)))
	response, err := g.slack.client.Do(r)
	if err != nil {
		g.slack.tell(user, "petrigate does not respond: see whether "+q.ID+" is still waiting.")
		return
	}
	defer func() { _ = response.Body.Close() }()
	var said struct{ Error string }
	if _ = json.NewDecoder(io.LimitReader(response.Body, maxBody)).Decode(&said); response.StatusCode != http.StatusOK {
		g.slack.tell(user, "This does not count: "+said.Error)
	}
}

func mac(secret, text string) string {
	m := hmac.New(sha256.New, []byte(secret))
	_, _ = io.WriteString(m, text)
	return hex.EncodeToString(m.Sum(nil))
}

func equal(a, b string) bool { return hmac.Equal([]byte(a), []byte(b)) }

// isRecent reports whether a Unix time is recent. A request whose time is not recent might be a
// replay.
func isRecent(seconds string) bool {
	t, err := strconv.ParseInt(seconds, 10, 64)
	return err == nil && time.Since(time.Unix(t, 0)).Abs() < 5*time.Minute
}
