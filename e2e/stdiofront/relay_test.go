package stdiofront

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

const sessionHeader = "Mcp-Session-Id"

// A relay forwards HTTP requests unchanged to a server, and records the messages.
type relay struct {
	to     string
	client *http.Client

	mu       sync.Mutex
	entries  []*entry
	sessions map[string]string // names of the sessions in the recording
}

func newRelay(to string) *relay {
	return &relay{to: to, sessions: map[string]string{}, client: &http.Client{
		Transport:     &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 8},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// ServeHTTP relays a request.
func (r *relay) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return
	}
	out, err := http.NewRequestWithContext(req.Context(), req.Method, r.to, bytes.NewReader(body))
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	out.Header, out.Host = req.Header.Clone(), req.Host
	said := r.said(req, body)
	response, err := r.client.Do(out)
	if err != nil {
		r.left(req, said)
		http.Error(w, "the server gave no answer", http.StatusBadGateway)
		return
	}
	defer func() { _ = response.Body.Close() }()
	session := r.settle(said, req, response)
	for name, values := range response.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(response.StatusCode)
	if strings.HasPrefix(response.Header.Get("Content-Type"), "text/event-stream") {
		if !r.events(w, response.Body, session) {
			r.left(req, said)
		}
		return
	}
	answer, _ := io.ReadAll(response.Body)
	r.record(session, "server", answer)
	_, _ = w.Write(answer) // the client may be gone
}

// said records what a client sends. It returns nil if that is not a message.
func (r *relay) said(req *http.Request, body []byte) *entry {
	session, known := r.session(req.Header.Get(sessionHeader))
	var m envelope
	if json.Unmarshal(body, &m) != nil || m.Method == "" && m.ID == nil {
		return nil
	}
	modern := at(m.Params, "_meta", "io.modelcontextprotocol/protocolVersion") != nil
	if !known && !modern && m.Method != "initialize" {
		return nil
	}
	return r.record(session, "client", body)
}

func (r *relay) session(id string) (name string, known bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	name, known = r.sessions[id]
	return name, known
}

// settle removes a message that was answered by a status alone, and names the session that an
// answer opens.
func (r *relay) settle(said *entry, req *http.Request, response *http.Response) (session string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	id := response.Header.Get(sessionHeader)
	if r.sessions[id] == "" && id != "" {
		r.sessions[id] = strconv.Itoa(len(r.sessions) + 1)
	}
	if id == "" {
		id = req.Header.Get(sessionHeader)
	}
	if said == nil {
		return r.sessions[id]
	}
	said.Session = r.sessions[id]
	kind, status := response.Header.Get("Content-Type"), response.StatusCode
	plain := !strings.HasPrefix(kind, "application/json") && !strings.HasPrefix(kind, "text/event-stream")
	said.dropped = plain && status != http.StatusAccepted
	return said.Session
}

// record records a message. It does nothing if the bytes are not a message.
func (r *relay) record(session, from string, message []byte) *entry {
	var compact bytes.Buffer
	var m envelope
	if json.Unmarshal(message, &m) != nil || json.Compact(&compact, message) != nil {
		return nil
	}
	e := &entry{Session: session, From: from, Message: compact.Bytes()}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.entries = append(r.entries, e)
	return e
}

// left records that the client of a request has closed the connection.
func (r *relay) left(req *http.Request, said *entry) {
	if said == nil || req.Context().Err() == nil || said.read().Method == "" {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.entries = append(r.entries, &entry{Session: said.Session, From: "client", Left: said.read().ID})
}

// events forwards an event stream. It reports whether the stream came to its end.
func (r *relay) events(w http.ResponseWriter, stream io.Reader, session string) bool {
	lines := bufio.NewReader(stream)
	var data []byte
	for {
		line, err := lines.ReadBytes('\n')
		if part, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			data = append(data, part...)
		} else if len(bytes.TrimSpace(line)) == 0 && data != nil {
			r.record(session, "server", data) // before forwarding, so that what the message causes is recorded later
			data = nil
		}
		if _, gone := w.Write(line); gone != nil {
			return false
		}
		if f, ok := w.(http.Flusher); ok && lines.Buffered() == 0 {
			f.Flush()
		}
		if err != nil {
			return err == io.EOF
		}
	}
}

// write writes the recording.
func (r *relay) write(w io.Writer) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return writeRecording(w, r.entries)
}
