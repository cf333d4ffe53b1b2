package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// A model simulates the services of three vendors. It answers each request in a conversation with
// the next turn of a script, which consists of commands for the agent to run concurrently. When
// there are no more turns, it answers with a word.
type model struct {
	URL string

	t *testing.T

	mu       sync.Mutex
	turns    [][]string
	requests []string // bodies of the requests that were answered from the script
}

// called splits a call that the model wants to make into the tool and its arguments. The call is
// either a script, or has the form "TOOL {arguments}".
func called(call, shell, argument string) (tool string, arguments json.RawMessage) {
	if name, rest, ok := strings.Cut(call, " {"); ok && !strings.Contains(name, " ") {
		return name, json.RawMessage("{" + rest)
	}
	arguments, _ = json.Marshal(map[string]string{argument: call, "description": "a step"})
	return shell, arguments
}

// newModel starts a model service.
func newModel(t *testing.T) *model {
	m := &model{t: t}
	server := httptest.NewServer(m)
	t.Cleanup(server.Close)
	m.URL = server.URL
	return m
}

// ServeHTTP answers a request.
func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	switch path := r.URL.Path; {
	case strings.HasSuffix(path, "/messages"):
		m.anthropic(w, body)
	case strings.HasSuffix(path, "/responses"):
		m.openai(w, body)
	case strings.Contains(path, "generateContent") || strings.Contains(path, "GenerateContent"):
		m.google(w, body, strings.Contains(path, "stream"))
	default:
		http.Error(w, "{}", http.StatusNotFound)
	}
}

// say sets the script for the next conversation.
func (m *model) say(turns [][]string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.turns, m.requests = turns, nil
}

// asked returns the requests since the last call of asked.
func (m *model) asked() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.requests
}

// turn records a request and returns the calls of the turn after the given number of completed
// turns. It returns nil if there are no more turns.
func (m *model) turn(done int, request []byte) []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests = append(m.requests, string(request))
	if done >= len(m.turns) {
		return nil
	}
	return m.turns[done]
}

// answered returns how many turns an agent has completed after answering the given number of calls.
func (m *model) answered(calls int) (turns int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, turn := range m.turns {
		if calls -= len(turn); calls < 0 {
			break
		}
		turns++
	}
	return turns
}

// anthropic answers in the format of the Messages API.
func (m *model) anthropic(w http.ResponseWriter, body []byte) {
	var q struct {
		Stream   bool
		Tools    []struct{ Name string }
		Messages []struct{ Role string }
	}
	if err := json.Unmarshal(body, &q); err != nil {
		m.t.Error(err)
	}
	done := 0
	for _, message := range q.Messages {
		if message.Role == "assistant" {
			done++
		}
	}
	var commands []string
	if slices.ContainsFunc(q.Tools, func(t struct{ Name string }) bool { return t.Name == "Bash" }) {
		commands = m.turn(done, body)
	}
	var content []any
	stop := "end_turn"
	for i, command := range commands {
		stop = "tool_use"
		tool, input := called(command, "Bash", "command")
		content = append(content, map[string]any{"type": "tool_use", "id": fmt.Sprintf("toolu_%d_%d", done, i), "name": tool, "input": input})
	}
	if content == nil {
		content = []any{map[string]any{"type": "text", "text": "Done."}}
	}
	message := map[string]any{"id": fmt.Sprintf("msg_%d", done), "type": "message", "role": "assistant", "model": "claude-sonnet-4-5", "usage": map[string]any{"input_tokens": 1, "output_tokens": 1}}
	if !q.Stream {
		message["content"], message["stop_reason"] = content, stop
		_ = json.NewEncoder(w).Encode(message)
		return
	}
	message["content"], message["stop_reason"] = []any{}, nil
	s := stream{w}
	s.named("message_start", map[string]any{"message": message})
	for i, block := range content {
		b := block.(map[string]any)
		delta := map[string]any{"type": "text_delta", "text": b["text"]}
		begin := map[string]any{"type": "text", "text": ""}
		if b["type"] == "tool_use" {
			delta = map[string]any{"type": "input_json_delta", "partial_json": string(b["input"].(json.RawMessage))}
			begin = map[string]any{"type": "tool_use", "id": b["id"], "name": b["name"], "input": map[string]any{}}
		}
		s.named("content_block_start", map[string]any{"index": i, "content_block": begin})
		s.named("content_block_delta", map[string]any{"index": i, "delta": delta})
		s.named("content_block_stop", map[string]any{"index": i})
	}
	s.named("message_delta", map[string]any{"delta": map[string]any{"stop_reason": stop}, "usage": map[string]any{"output_tokens": 1}})
	s.named("message_stop", map[string]any{})
}

// openai answers in the format of the Responses API.
func (m *model) openai(w http.ResponseWriter, body []byte) {
	var q struct {
		Tools []struct{ Type, Name string }
		Input []struct{ Type string }
	}
	if err := json.Unmarshal(body, &q); err != nil {
		m.t.Error(err)
	}
	answered := 0
	for _, item := range q.Input {
		if strings.HasSuffix(item.Type, "_output") {
			answered++
		}
	}
	done := m.answered(answered)
	shell, argument := "shell_command", "command"
	for _, t := range q.Tools {
		if t.Name == "exec_command" {
			shell, argument = "exec_command", "cmd"
		}
	}
	var items []any
	for i, command := range m.turn(done, body) {
		tool, arguments := called(command, shell, argument)
		item := map[string]any{"type": "function_call", "id": fmt.Sprintf("fc_%d_%d", done, i), "call_id": fmt.Sprintf("call_%d_%d", done, i), "name": tool, "arguments": string(arguments)}
		if at := strings.LastIndex(tool, "__"); at > 0 { // the tool is in its server's namespace
			item["namespace"], item["name"] = tool[:at], tool[at+2:]
		}
		items = append(items, item)
	}
	if items == nil {
		items = []any{map[string]any{"type": "message", "id": "msg_end", "role": "assistant", "content": []any{map[string]any{"type": "output_text", "text": "Done."}}}}
	}
	s := stream{w}
	id := fmt.Sprintf("resp_%d", done)
	s.named("response.created", map[string]any{"response": map[string]any{"id": id}})
	for i, item := range items {
		s.named("response.output_item.done", map[string]any{"output_index": i, "item": item})
	}
	s.named("response.completed", map[string]any{"response": map[string]any{"id": id, "output": items, "usage": map[string]any{
		"input_tokens": 1, "output_tokens": 1, "total_tokens": 2, "input_tokens_details": map[string]any{"cached_tokens": 0}, "output_tokens_details": map[string]any{"reasoning_tokens": 0},
	}}})
}

// google answers in the format of generateContent.
func (m *model) google(w http.ResponseWriter, body []byte, streams bool) {
	var q struct {
		Contents []struct {
			Role  string
			Parts []map[string]json.RawMessage
		}
		Tools []json.RawMessage
	}
	if err := json.Unmarshal(body, &q); err != nil {
		m.t.Error(err)
	}
	done := 0
	for _, c := range q.Contents {
		if c.Role == "model" && slices.ContainsFunc(c.Parts, func(p map[string]json.RawMessage) bool { return p["functionCall"] != nil }) {
			done++
		}
	}
	var parts []any
	if !strings.Contains(string(body), "run_shell_command") {
		parts = []any{map[string]any{"text": `{"complexity_reasoning":"none","complexity_score":1,"reasoning":"none","model_choice":"flash","next_speaker":"user"}`}}
	} else {
		for _, command := range m.turn(done, body) {
			tool, args := called(command, "run_shell_command", "command")
			parts = append(parts, map[string]any{"functionCall": map[string]any{"name": tool, "args": args}})
		}
	}
	if parts == nil {
		parts = []any{map[string]any{"text": "Done."}}
	}
	answer := map[string]any{
		"candidates":    []any{map[string]any{"content": map[string]any{"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}},
		"usageMetadata": map[string]any{"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
	}
	if !streams {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(answer)
		return
	}
	stream{w}.data(answer)
}

// A stream writes server-sent events.
type stream struct{ w http.ResponseWriter }

func (s stream) named(name string, data map[string]any) {
	data["type"] = name
	s.w.Header().Set("Content-Type", "text/event-stream")
	_, _ = fmt.Fprintf(s.w, "event: %s\n", name)
	s.data(data)
}

func (s stream) data(data any) {
	s.w.Header().Set("Content-Type", "text/event-stream")
	text, _ := json.Marshal(data)
	_, _ = fmt.Fprintf(s.w, "data: %s\n\n", text)
}
