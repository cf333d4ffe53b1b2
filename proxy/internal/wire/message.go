package wire

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"

	"github.com/petrigate/petrigate/internal/rawjson"
)

// A Kind is a kind of JSON-RPC message.
type Kind uint8

const (
	Request Kind = iota + 1
	Notification
	Response
)

// A Message is the envelope of a JSON-RPC message. Its byte slices may refer to the source and must
// not be modified. The ID is needed as long as the request is in flight. Parse copies the ID of a
// large message, so that the ID does not keep the whole message in memory.
type Message struct {
	Kind   Kind
	ID     []byte // ID as written in the message, a string or an integer; nil in a notification
	Method string
	Params []byte // nil if absent
	Result []byte // set in a response, unless Error is set
	Error  []byte
	Raw    []byte // the whole message
	Number int64  // integer ID of a response from an upstream; otherwise 0

	index index // positions of members in Params
}

// Parse parses a message from a client. size is the maximum size of the message in bytes. The
// result may refer to the bytes in raw.
func Parse(raw []byte, size int) (Message, *Fault) {
	if len(raw) > size {
		return Message{}, NewFault(CodeInvalidRequest, "invalid request: longer than "+strconv.Itoa(size)+" bytes")
	}
	if err := rawjson.Check(raw, maxDepth); err != nil {
		return Message{}, NewFault(CodeParse, "parse error: "+err.Error())
	}
	switch rawjson.Kind(raw) {
	case '{':
	case '[':
		return Message{}, NewFault(CodeInvalidRequest, "invalid request: batches are not supported")
	default:
		return Message{}, NewFault(CodeInvalidRequest, "invalid request: not an object")
	}
	raw = oneLine(raw, ' ')
	var e envelope
	rawjson.Members(raw, e.take)
	m, reason := e.message(raw)
	if reason != "" {
		silent := e.method == nil && (e.result != nil || e.err != nil)
		return Message{}, &Fault{Code: CodeInvalidRequest, Message: "invalid request: " + reason, ID: m.ID, Silent: silent}
	}
	if m.Params != nil {
		var fault *Fault
		if m.index, fault = indexParams(m.ID, m.Params); fault != nil {
			return Message{}, fault
		}
	}
	if len(raw) > smallMessage {
		m.ID = bytes.Clone(m.ID)
	}
	return m, nil
}

// smallMessage is the maximum size, in bytes, of a message that may stay in memory just because its
// ID is needed.
const smallMessage = 4 << 10

// oneLine returns doc with each line break replaced by the given byte; see [OneLine]. If doc kept
// its line breaks, an upstream that reads one message per line could find a second message that the
// proxy has not seen.
func oneLine(doc []byte, space byte) []byte {
	if bytes.IndexByte(doc, '\n') < 0 && bytes.IndexByte(doc, '\r') < 0 {
		return doc
	}
	doc = bytes.Clone(doc)
	OneLine(doc, space)
	return doc
}

// OneLine replaces each line break in b with the given byte, for use on a transport where a line
// break ends a message. In valid JSON, line breaks occur only as white space between tokens, so
// they can be replaced with spaces. For unchecked JSON, pass a tab. A string that contains a line
// break is invalid JSON. With a tab, it remains invalid; with a space, it would silently become
// valid.
func OneLine(b []byte, space byte) {
	for _, c := range []byte{'\n', '\r'} {
		for rest := b; ; {
			i := bytes.IndexByte(rest, c)
			if i < 0 {
				break
			}
			rest[i] = space
			rest = rest[i+1:]
		}
	}
}

// An envelope holds the members of a message while the message is being parsed.
type envelope struct {
	version, id, method, params, result, err []byte

	unknown []byte // first unknown key
	twice   []byte // first duplicate key; always nil if the message has passed rawjson.Check
}

// take stores a member in the envelope.
func (e *envelope) take(key, value []byte, _ int) bool {
	var field *[]byte
	switch string(key) {
	case "jsonrpc":
		field = &e.version
	case "id":
		field = &e.id
	case "method":
		field = &e.method
	case "params":
		field = &e.params
	case "result":
		field = &e.result
	case "error":
		field = &e.err
	}
	switch {
	case field == nil && e.unknown == nil:
		e.unknown = key
	case field == nil:
	case *field != nil:
		e.twice = key
	default:
		*field = value
	}
	return true
}

// message converts the envelope to a message. If the message is not valid JSON-RPC, reason explains
// why. The ID of such a message is nil if the ID itself is invalid.
func (e *envelope) message(raw []byte) (m Message, reason string) {
	m = Message{Kind: Request, Params: e.params, Result: e.result, Error: e.err, Raw: raw}
	if validID(e.id) {
		m.ID = e.id
	}
	switch {
	case e.method == nil:
		m.Kind = Response
	case m.ID == nil:
		m.Kind = Notification
	}
	m.Method = methodName(e.method)
	switch {
	case e.unknown != nil:
		reason = "unknown member " + strconv.QuoteToASCII(clip(e.unknown))
	case string(e.version) != `"2.0"` && !isString(e.version, "2.0"):
		reason = `"jsonrpc" must be "2.0"`
	case e.id != nil && m.ID == nil:
		reason = `"id" must be a string or an integer`
	case m.Kind != Response && (e.result != nil || e.err != nil):
		reason = "both a method and a result or error"
	case m.Kind != Response && m.Method == "":
		reason = `"method" must be a string`
	case m.Kind != Response:
	case e.result == nil && e.err == nil:
		reason = "no method"
	case e.result != nil && e.err != nil:
		reason = "both a result and an error"
	case e.params != nil:
		reason = "a response with params"
	case e.id == nil:
		reason = "a response without an id"
	case e.result != nil && e.result[0] != '{':
		reason = resultNotObject
	case e.err != nil && e.err[0] != '{':
		reason = `"error" must be an object`
	}
	return m, reason
}

const resultNotObject = `"result" must be an object`

// methodName decodes a method name without allocating memory for common names. It returns "" if lit
// is not a string or is too long.
func methodName(lit []byte) string {
	switch string(lit) {
	case `"tools/call"`:
		return "tools/call"
	case `"tools/list"`:
		return "tools/list"
	case `"ping"`:
		return "ping"
	}
	name, _ := rawjson.String(lit)
	if len(name) > maxMethod {
		return ""
	}
	return name
}

func isString(lit []byte, want string) bool {
	s, ok := rawjson.String(lit)
	return ok && s == want
}

const (
	maxDepth     = 128  // maximum nesting depth
	maxIDString  = 1024 // maximum length of a string ID as written, in bytes, without the quotes
	maxIDInteger = 20   // maximum number of digits of an integer ID
	maxMethod    = 256
)

// validID reports whether id is a string or an integer that is not too long. A number with a
// fraction or an exponent is not valid.
func validID(id []byte) bool {
	if rawjson.Kind(id) == '"' {
		return len(id) <= maxIDString+2
	}
	digits := bytes.TrimPrefix(id, []byte("-"))
	if len(digits) == 0 || len(digits) > maxIDInteger {
		return false
	}
	for _, c := range digits {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// IDKey returns a map key for an ID. Two IDs with the same value have the same key, even if they
// are written differently. An integer and a string never have the same key.
func IDKey(id []byte) string {
	if s, ok := rawjson.String(id); ok {
		return `"` + s
	}
	if string(id) == "-0" {
		return "0"
	}
	return string(id)
}

// ParseUpstream parses the envelope of a message from an upstream. To find the ends of params,
// result and error, it only checks that their brackets are balanced. It ignores members not defined
// by JSON-RPC, and removes the proxy's own members at any depth. Some upstreams send both result
// and error, one of them null; the null member counts as absent. The ID of a response must be an
// integer, because the proxy sends no other IDs. A request may have any valid ID.
func ParseUpstream(line []byte) (Message, error) {
	line = oneLine(line, '\t')
	var e envelope
	variant := ""
	whole := rawjson.Members(line, func(key, value []byte, at int) bool {
		if variant = variantOf(key, envelopeKeys); variant != "" {
			return false
		}
		e.take(key, value, at)
		return e.twice == nil
	})
	switch {
	case variant != "":
		return Message{}, fmt.Errorf("reading a message: a member differs from %q in case only", variant)
	case e.twice != nil:
		return Message{}, fmt.Errorf("reading a message: duplicate member %q", e.twice)
	case !whole:
		return Message{}, errors.New("reading a message: not a JSON object")
	}
	e.unknown = nil
	if string(e.err) == "null" {
		e.err = nil
	} else if e.err != nil && string(e.result) == "null" {
		e.result = nil
	}
	m, reason := e.message(line)
	if reason == resultNotObject {
		reason = "" // accept the response; ResultFacts will report that its result is not an object
	}
	if reason == "" && m.Kind == Response {
		var err error
		if m.Number, err = strconv.ParseInt(string(m.ID), 10, 64); err != nil {
			reason = "the id is not from petrigate"
		}
	}
	if reason != "" {
		return Message{}, errors.New("reading a message: " + reason)
	}
	m.Params, m.Result, m.Error = withoutOwn(m.Params), withoutOwn(m.Result), withoutOwn(m.Error)
	return m, nil
}

// UpstreamError returns an upstream's error object without members that have the prefix [OwnMeta].
// It is not needed for messages from [ParseUpstream], which removes these members itself.
func UpstreamError(failure []byte) []byte { return withoutOwn(failure) }

// An index holds the positions of the params members that make up a call, so that the params are
// scanned only once.
type index struct {
	fields [6]field
	n      int
	end    int // offset of the end of the last member, or of the opening brace in an empty object; 0 if the params have not been scanned
}

// A field is the position of a member in its object. The slice [at:end] contains the value. The
// slice [from:end] contains the whole member and everything between it and the previous member or
// the opening brace.
type field struct {
	name          fieldName
	from, at, end int
}

type fieldName uint8

const (
	fieldTool fieldName = iota + 1
	fieldArguments
	fieldMeta
	fieldTask
	fieldResponses
	fieldState
)

var fieldKeys = [...]string{
	fieldTool: "name", fieldArguments: "arguments", fieldMeta: "_meta", fieldTask: "task",
	fieldResponses: "inputResponses", fieldState: "requestState",
}

// fieldOf returns the fieldName of a key, such as fieldTool for "name". For a key without a
// fieldName, it returns 0.
func fieldOf(key []byte) fieldName {
	for name, k := range fieldKeys {
		if k == string(key) && name != 0 {
			return fieldName(name)
		}
	}
	return 0
}

// indexParams finds the members of params. It also checks the rules that apply to all methods:
// params and its _meta must be objects, and no key may differ from a known key only in case.
func indexParams(id, params []byte) (index, *Fault) {
	if params[0] != '{' {
		return index{}, invalidParams(id, "not an object")
	}
	x := index{end: 1}
	bad := ""
	rawjson.Members(params, func(key, value []byte, at int) bool {
		if name := fieldOf(key); name != 0 {
			x.fields[x.n] = field{name, x.end, at, at + len(value)}
			x.n++
			if name == fieldMeta {
				bad = checkMeta(value)
			}
		} else if k := variantOf(key, paramKeys); k != "" {
			bad = quoteVariant(key, k)
		}
		x.end = at + len(value)
		return bad == ""
	})
	if bad != "" {
		return index{}, invalidParams(id, bad)
	}
	return x, nil
}

// checkMeta returns "" if meta is a valid _meta, and an explanation otherwise.
func checkMeta(meta []byte) (bad string) {
	if meta[0] != '{' {
		return `"_meta" must be an object`
	}
	rawjson.Members(meta, func(key, _ []byte, _ int) bool {
		if k := variantOf(key, metaKeys); k != "" {
			bad = "_meta: " + quoteVariant(key, k)
		}
		return bad == ""
	})
	return bad
}

// JSON-RPC error codes for refused messages.
const (
	CodeParse          = -32700 // the message is not strict JSON
	CodeInvalidRequest = -32600 // the message is not a JSON-RPC message
	CodeMethodNotFound = -32601
	CodeInvalidParams  = -32602
	CodeInternal       = -32603
)

// A Fault explains why a client's message is refused. No part of a message refused by [Parse] may
// be executed.
type Fault struct {
	Code    int
	Message string
	Data    []byte // additional data about the fault; nil if none
	ID      []byte // ID of the request as written; nil if it cannot be read

	// Silent reports whether the proxy must not respond, because the message itself seems to be a
	// response.
	Silent bool
}

// NewFault returns a fault without data. The caller must set its ID.
func NewFault(code int, message string) *Fault { return &Fault{Code: code, Message: message} }

func (f *Fault) Error() string { return f.Message }

// Append appends the JSON-RPC error response that reports the fault.
func (f *Fault) Append(dst []byte) []byte {
	return AppendError(dst, f.ID, f.Code, f.Message, f.Data)
}

func invalidParams(id []byte, message string) *Fault {
	return &Fault{Code: CodeInvalidParams, Message: "invalid params: " + message, ID: id}
}
