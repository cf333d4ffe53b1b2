package upstream

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

// A server is a small legacy server whose behavior depends on its role.
type server struct {
	role string
	in   *bufio.Reader
	out  *os.File
}

type incoming struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Name   string `json:"name"`
		Cursor string `json:"cursor"`
	} `json:"params"`
	raw string
}

func hostile(role string) int {
	s := &server{role: role, in: bufio.NewReaderSize(os.Stdin, 1<<16), out: os.Stdout}
	if role == "stubborn" {
		signal.Ignore(syscall.SIGTERM)
	}
	switch role {
	case "lean":
		s.lean()
	case "parent":
		return parent()
	}
	for {
		m, ok := s.next()
		if !ok {
			break
		}
		s.handle(m)
	}
	if role == "stubborn" {
		select {}
	}
	return 0
}

// lean performs the handshake and then answers each request with as little work as possible.
func (s *server) lean() {
	for range 2 {
		m, _ := s.next()
		s.handle(m)
	}
	out := bufio.NewWriterSize(s.out, 1<<16)
	for {
		line, err := s.in.ReadSlice('\n')
		if err != nil {
			os.Exit(0)
		}
		id := line[len(`{"jsonrpc":"2.0","id":`):]
		out.WriteString(`{"jsonrpc":"2.0","id":`)
		out.Write(id[:bytes.IndexByte(id, ',')])
		out.WriteString(`,"result":{"content":[{"type":"text","text":"All is well that ends well."}],"isError":false}}` + "\n")
		if s.in.Buffered() == 0 {
			out.Flush()
		}
	}
}

func (s *server) next() (incoming, bool) {
	line, err := s.in.ReadString('\n')
	if err != nil {
		return incoming{}, false
	}
	m := incoming{raw: strings.TrimSpace(line)}
	_ = json.Unmarshal([]byte(line), &m)
	return m, true
}

func (s *server) say(format string, args ...any) { fmt.Fprintf(s.out, format+"\n", args...) }

func (s *server) result(m incoming, text string) {
	quoted, _ := json.Marshal(text)
	s.say(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":%s}]}}`, m.ID, quoted)
}

func (s *server) handle(m incoming) {
	switch {
	case m.Method == "server/discover":
		s.discover(m)
	case m.Method == "initialize" && s.role == "late":
		s.say(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"what?"}}`, m.ID)
	case m.Method == "initialize":
		s.say(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","serverInfo":{"name":"h","version":"1"},"capabilities":{"tools":{}}}}`, m.ID)
	case m.Method == "tools/call":
		s.call(m)
	}
}

// discover answers like a modern server. In the role late, it answers only after the next request,
// as if it had been starting until then.
func (s *server) discover(m incoming) {
	answer := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true}},"instructions":"be \"nice\"","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"m","version":"1"}}}}`, m.ID)
	switch s.role {
	case "modern":
	case "late-both":
		if first() {
			second, _ := s.next()
			s.say("%s", answer)
			s.handle(second)
			return
		}
	case "late-death":
		if first() {
			_, _ = s.next()
		}
		os.Exit(5)
	case "late":
		if second, ok := s.next(); ok && second.Method == "initialize" {
			s.say("%s", answer)
			s.role = "modern"
			s.say(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"what?"}}`, second.ID)
			return
		}
	case "mute-probe":
		return
	default:
		s.say(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Method not found"}}`, m.ID)
		return
	}
	s.say("%s", answer)
}

// first reports whether this is the first process that asks. It creates a file to remember this.
func first() bool {
	return os.Mkdir(os.Getenv("MARK"), 0o700) == nil
}

func (s *server) call(m incoming) {
	switch m.Params.Name {
	case "echo":
		s.result(m, m.raw)
	case "env":
		s.result(m, strings.Join(os.Environ(), "\n"))
	case "stop-reading":
		s.result(m, "bye")
		select {}
	case "silent":
	case "flood-stderr":
		for i := range 20_000 {
			fmt.Fprintf(os.Stderr, "line %d \x1b[31mred\x1b[0m\u202e\n", i)
		}
		fmt.Fprintln(os.Stderr, strings.Repeat("x", 1<<20))
		s.result(m, "done")
	case "long":
		s.say(`{"jsonrpc":"2.0","id":%s,"result":{"x":"%s"}}`, m.ID, strings.Repeat("x", 1<<20))
	case "endless":
		for {
			if _, err := s.out.WriteString(strings.Repeat("x", 1<<16)); err != nil {
				return
			}
		}
	case "big":
		s.result(m, strings.Repeat("y", 1<<20))
	case "ask":
		s.ask(m)
	case "answers":
		s.say(`{"jsonrpc":"2.0","id":"%s","result":{"which":"a string id"}}`, m.ID)
		s.say(`{"jsonrpc":"2.0","id":999999,"result":{"which":"no request"}}`)
		s.say(`{"jsonrpc":"2.0","id":%s,"result":{"which":"first"}}`, m.ID)
		s.say(`{"jsonrpc":"2.0","id":%s,"result":{"which":"second"}}`, m.ID)
	case "malformed":
		s.say(`{"jsonrpc":"2.0","id":%s,"result":{"a":1}`, m.ID)
	case "latin":
		s.say(`{"jsonrpc":"2.0","id":%s,"result":{"a":"%s"}}`, m.ID, "\xe9")
	case "exit":
		os.Exit(3)
	case "half-exit":
		fmt.Fprintf(s.out, `{"jsonrpc":"2.0","id":%s,"result":{"content":[`, m.ID)
		os.Exit(4)
	case "in-pieces":
		s.inPieces(m)
	case "grandchild", "process", "fork":
		s.processTool(m)
	case "close-output":
		s.out.Close()
	case "answer-and-exit":
		s.result(m, strings.Repeat("z", 100_000))
		os.Exit(0)
	}
}

// inPieces writes garbage before and after the answer, and writes the answer byte by byte.
func (s *server) inPieces(m incoming) {
	answer := fmt.Sprintf("\x00\x00\n\x00{\"jsonrpc\":\"2.0\",\"id\":%[1]s,\"result\":{}}\nnpm notice\r\n{\"jsonrpc\":\"2.0\",\"id\":%[1]s,\"result\":{\"content\":[]}}\r\n\x1b[2J{", m.ID)
	for i := range len(answer) {
		_, _ = s.out.WriteString(answer[i : i+1])
	}
	s.say("")
}

// ask sends the client a request with the same ID as the client's own request, and returns the
// client's answer as the result.
func (s *server) ask(m incoming) {
	var heard []string
	for _, method := range []string{"ping", "roots/list", "sampling/createMessage"} {
		s.say(`{"jsonrpc":"2.0","id":%s,"method":%q}`, m.ID, method)
		answer, _ := s.next()
		heard = append(heard, answer.raw)
	}
	s.result(m, strings.Join(heard, "\n"))
}

// parent is a program with an upstream. It prints its process ID and waits.
func parent() int {
	self, _ := os.Executable()
	u := New(Config{Name: "orphan", Command: self, Env: map[string]string{roleVariable: "stubborn"}}, Options{})
	u.Start(context.Background())
	<-u.Settled()
	fmt.Println(u.State().Pid)
	select {}
}
