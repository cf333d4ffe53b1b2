package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"runtime/debug"
	"sync"
	"time"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/policy/check"
)

// Options configures a server. The zero value is ready to use.
type Options struct {
	Version string
	Tools   []check.ListedTool // a complete list, against which names are held; nil: none is known

	// Running asks the proxy that runs a configuration for its tools. They are offered,
	// and names are not held against them; nil: nobody is asked. It may take its time.
	Running func(*config.Config) check.ToolSet

	// Lint finds what else is doubtful in a configuration; may be nil.
	Lint func(*config.Config) diag.List

	// Base returns what is known of base policies at addresses, without asking for it; nil:
	// nothing. One that is not known is left out, with a warning.
	Base config.Fetch

	// Trusts reports whether a person has trusted a configuration; any other is read as text. nil: none is.
	Trusts func(path string, src []byte) bool

	// Widened finds the bases of a configuration that it does not only narrow; nil: nobody does.
	Widened func(context.Context, *config.Config, *policy.Result) diag.List

	Quiet time.Duration // after the last key and before a check; 0: 200 ms
}

// ErrNoShutdown says that the editor has gone without saying so.
var ErrNoShutdown = errors.New("the editor ended the connection without a shutdown request")

// Serve answers one editor until it says exit, or goes. Reading begins with the
// editor's initialize request.
func Serve(ctx context.Context, in io.Reader, out io.Writer, o Options) error {
	if o.Quiet == 0 {
		o.Quiet = 200 * time.Millisecond
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &server{state: newState(o.Tools), options: o, grammar: newGrammar(), wake: make(chan struct{}, 1), ready: make(chan struct{}), exited: make(chan struct{})}
	s.exit = sync.OnceFunc(func() { close(s.exited) })
	s.conn = jsonrpc2.NewConn(ctx, newFrames(in, out), s, jsonrpc2.SetLogger(log.New(io.Discard, "", 0)))
	close(s.ready)
	go s.checkLoop(ctx) // which nobody waits for at the end: what it finds then is of no use
	select {
	case <-s.exited:
	case <-s.conn.DisconnectNotify():
	}
	if !s.stopped() {
		return ErrNoShutdown
	}
	return nil
}

// A server answers one editor.
type server struct {
	*state
	options Options
	grammar *grammar
	conn    *jsonrpc2.Conn
	ready   chan struct{} // closed as soon as conn is there
	wake    chan struct{} // has room for one: something is to be checked
	exited  chan struct{}
	exit    func() // closes exited, once
}

// Handle answers one message. Messages come one after the other.
func (s *server) Handle(ctx context.Context, conn *jsonrpc2.Conn, r *jsonrpc2.Request) {
	defer func() { // a fault here must not take the editor's other features along
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

// notified takes a notification. One that is not known, or cannot be read, is left.
func (s *server) notified(method string, params json.RawMessage) {
	switch method {
	case "textDocument/didOpen":
		s.didOpen(params)
	case "textDocument/didChange":
		s.didChange(params)
	case "textDocument/didClose":
		s.didClose(params)
	case "textDocument/didSave", "workspace/didChangeWatchedFiles":
		s.recheckAll()
	case "exit":
		s.exit()
		_ = s.conn.Close()
	}
}

// answer answers a request.
func (s *server) answer(method string, params json.RawMessage) (any, error) {
	switch method {
	case "initialize":
		return s.initialize(params)
	case "shutdown":
		s.stop()
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
	var tools []check.ListedTool
	if file := p.Options.Tools; file != "" {
		var err error
		if tools, err = readTools(file); err != nil {
			s.tell("reading the tool list: " + err.Error())
		}
	}
	s.state.initialize(p.Capabilities.TextDocument.Completion.CompletionItem.SnippetSupport, tools)
	return capabilities(s.options.Version), nil
}
