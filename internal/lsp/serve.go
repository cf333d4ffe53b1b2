package lsp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"runtime/debug"
	"time"

	"github.com/sourcegraph/jsonrpc2"
)

// ErrNoShutdown is returned if the editor closes the connection without a shutdown request.
var ErrNoShutdown = errors.New("the editor ended the connection without a shutdown request")

// Serve serves a single editor until it sends an exit notification or closes the connection. If the
// editor has sent no shutdown request by then, Serve returns [ErrNoShutdown].
func Serve(ctx context.Context, in io.Reader, out io.Writer, o Options) error {
	o.Quiet = cmp.Or(o.Quiet, 200*time.Millisecond)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &server{state: newState(o.Tools), options: o, grammar: newGrammar(), wake: make(chan struct{}, 1), ready: make(chan struct{})}
	s.conn = jsonrpc2.NewConn(ctx, newFrames(in, out), s, jsonrpc2.SetLogger(log.New(io.Discard, "", 0)))
	close(s.ready)
	go s.checkLoop(ctx) // Serve does not wait for the checks, since their results are no longer needed when it returns
	<-s.conn.DisconnectNotify()
	if !s.shutdown.Load() {
		return ErrNoShutdown
	}
	return nil
}

// Handle handles a message. It is called for one message at a time.
func (s *server) Handle(ctx context.Context, conn *jsonrpc2.Conn, r *jsonrpc2.Request) {
	defer func() { // keep the editor's session alive if a request panics
		if p := recover(); p != nil && !r.Notif {
			_ = conn.ReplyWithError(ctx, r.ID, &jsonrpc2.Error{Code: jsonrpc2.CodeInternalError, Message: fmt.Sprintf("%v\n%s", p, debug.Stack())})
		}
	}()
	<-s.ready
	var params json.RawMessage
	if r.Params != nil {
		params = *r.Params
	}
	if r.Notif {
		s.notified(r.Method, params)
		return
	}
	result, err := s.answer(r.Method, params)
	var coded *jsonrpc2.Error
	switch {
	case errors.As(err, &coded):
		_ = conn.ReplyWithError(ctx, r.ID, coded)
	case err != nil:
		_ = conn.ReplyWithError(ctx, r.ID, &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidParams, Message: err.Error()})
	default:
		_ = conn.Reply(ctx, r.ID, result)
	}
}

// notified handles a notification. It ignores unknown and malformed notifications.
func (s *server) notified(method string, params json.RawMessage) {
	switch method {
	case "textDocument/didOpen":
		handle(params, s.didOpen)
	case "textDocument/didChange":
		handle(params, s.didChange)
	case "textDocument/didClose":
		handle(params, s.didClose)
	case "textDocument/didSave", "workspace/didChangeWatchedFiles":
		s.recheckAll()
	case "exit":
		_ = s.conn.Close()
	}
}

// handle decodes the parameters of a notification and passes them to the function f. It ignores
// malformed parameters.
func handle[T any](params json.RawMessage, f func(T)) {
	var p T
	if json.Unmarshal(params, &p) == nil {
		f(p)
	}
}

// answer returns the response to a request.
func (s *server) answer(method string, params json.RawMessage) (any, error) {
	switch method {
	case "initialize":
		return s.initialize(params)
	case "shutdown":
		s.shutdown.Store(true)
		return nil, nil
	case "textDocument/codeAction":
		return codeActions(params)
	}
	about := map[string]func(*document, Position) any{
		"textDocument/hover":          s.hover,
		"textDocument/completion":     s.completion,
		"textDocument/formatting":     s.formatting,
		"textDocument/documentSymbol": s.symbols,
		"textDocument/definition":     s.definition,
	}[method]
	if about == nil {
		return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeMethodNotFound, Message: fmt.Sprintf("petrigate does not serve %.80q", method)}
	}
	var p documentParams
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, err
	}
	d := s.document(pathOf(p.TextDocument.URI))
	if d == nil || d.kind != rulesFile || d.refused != "" {
		return nil, nil
	}
	return about(d, p.Position), nil
}

func (s *server) initialize(params json.RawMessage) (any, error) {
	var p initializeParams
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, err
	}
	if file := p.Options.Tools; file != "" {
		tools, err := readTools(file)
		if err != nil {
			s.warn("reading the tool list: " + err.Error())
		}
		s.setTools(tools)
	}
	s.snippets = p.Capabilities.TextDocument.Completion.CompletionItem.SnippetSupport
	return capabilities(s.options.Version), nil
}
