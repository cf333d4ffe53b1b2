package wire

import (
	"bytes"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/petrigate/petrigate/internal/rawjson"
)

// Keys of _meta members. A member with one of these keys applies only between two peers and must
// not be forwarded. The only exception is keyRelatedTask, the key of a reference to a task.
const (
	keyProgressToken      = "progressToken"
	keyProtocolVersion    = "io.modelcontextprotocol/protocolVersion"
	keyClientInfo         = "io.modelcontextprotocol/clientInfo"
	keyClientCapabilities = "io.modelcontextprotocol/clientCapabilities"
	keyLogLevel           = "io.modelcontextprotocol/logLevel"
	keyServerInfo         = "io.modelcontextprotocol/serverInfo"
	keySubscriptionID     = "io.modelcontextprotocol/subscriptionId"
	keyRelatedTask        = "io.modelcontextprotocol/related-task"
)

// A parser that ignores case would accept keys like "Name" or "argument\u017f" as keys of the
// protocol, and could read a member that this parser ignores. Keys that differ from a known key
// only in case are therefore refused.

// These lists of known keys must not be modified.
var (
	envelopeKeys = []string{"jsonrpc", "id", "method", "params", "result", "error"}

	// paramKeys contains the keys of the params that the proxy reads in any method, directly or
	// through mcp-go.
	paramKeys = []string{
		"name", "arguments", "_meta", "task", "inputResponses", "requestState", "cursor", "uri", "level",
		"ref", "argument", "context", "requestId", "taskId", "reason", "progressToken", "progress", "total",
		"message", "protocolVersion", "capabilities", "clientInfo", "notifications",
	}

	// metaKeys contains the keys of the _meta members that apply only between two peers, and the
	// key of the reference to a task.
	metaKeys = []string{
		keyProgressToken, keyProtocolVersion, keyClientInfo, keyClientCapabilities, keyLogLevel,
		keyServerInfo, keySubscriptionID, keyRelatedTask,
	}

	// resultKeys contains the keys of the members of a result that show how a call ended.
	resultKeys = []string{"isError", "resultType", "task"}

	// taskKeys contains the keys of the members of a task object that the proxy reads.
	taskKeys = []string{"taskId", "status", "ttl", "ttlMs", "pollInterval", "pollIntervalMs", "result", "error"}
)

// variantOf returns the known key that differs from key only in case, by simple Unicode case
// folding. It returns "" if key itself is known or has no such variant.
func variantOf(key []byte, known []string) string {
	for _, k := range known {
		switch {
		case k == string(key):
			return ""
		case bytes.EqualFold([]byte(k), key):
			return k
		}
	}
	return ""
}

func quoteVariant(key []byte, known string) string {
	return strconv.QuoteToASCII(clip(key)) + " differs from " + strconv.Quote(known) + " in case only"
}

// clip shortens a key for use in an error message.
func clip(key []byte) string {
	const most = 64
	if len(key) > most {
		return string(key[:most]) + "..."
	}
	return string(key)
}

// OwnMeta is the prefix of the _meta members that the proxy itself adds: its decision, and the name
// of the upstream that sent a request. Members with this prefix are removed from upstreams'
// messages, at any depth.
const OwnMeta = "io.petrigate/"

// isOwn reports whether a name begins with OwnMeta. It ignores case, because some programs ignore
// the case of names when they read JSON.
func isOwn(name []byte) bool {
	return len(name) >= len(OwnMeta) && bytes.EqualFold(name[:len(OwnMeta)], []byte(OwnMeta))
}

// withoutOwn returns doc, a message or a part of one, without the members whose keys begin with
// OwnMeta. Usually, a quick search shows that doc does not contain this prefix. A document with
// many slashes or escapes is parsed instead, because that is cheaper than a complete search. If doc
// is malformed and might contain the prefix, withoutOwn returns null, because parsers might
// disagree about it.
func withoutOwn(doc []byte) []byte {
	may, done := mayHaveOwnPrefix(doc, fewLooks+len(doc)/bytesPerLook)
	if !done {
		var readable bool
		if _, _, may, readable = ownMember(doc, 0); !readable {
			may, _ = mayHaveOwnPrefix(doc, len(doc))
		}
	}
	if !may {
		return doc
	}
	s := scrubber{src: doc}
	if !s.copy() {
		return []byte("null")
	}
	if !s.dropped {
		return doc
	}
	return s.dst
}

const (
	fewLooks     = 16
	bytesPerLook = 1024
)

// mayHaveOwnPrefix reports whether doc might contain the prefix OwnMeta, written literally or with
// escapes. It examines at most limit slashes and backslashes. If that is not enough to decide, the
// second result is false.
func mayHaveOwnPrefix(doc []byte, limit int) (may, done bool) {
	for at := 0; ; at++ {
		i := bytes.IndexByte(doc[at:], '/')
		if i < 0 {
			break
		}
		if limit--; limit < 0 {
			return false, false
		}
		at += i
		before := bytes.TrimSuffix(doc[:at], []byte(`\`))
		if n := len(OwnMeta) - 1; len(before) >= n && bytes.EqualFold(before[len(before)-n:], []byte(OwnMeta[:n])) {
			return true, true
		}
	}
	for at := 0; ; at += 2 {
		i := bytes.IndexByte(doc[at:], '\\')
		if i < 0 || at+i+6 > len(doc) {
			return false, true
		}
		if limit--; limit < 0 {
			return false, false
		}
		at += i
		if doc[at+1] == 'u' && spellsPrefix(doc[at+2:at+6]) {
			return true, true
		}
	}
}

// spellsPrefix reports whether the hexadecimal digits of an escape sequence represent a character
// of the prefix.
func spellsPrefix(digits []byte) bool {
	n, err := strconv.ParseUint(string(digits), 16, 16)
	return err == nil && n < utf8.RuneSelf && strings.ContainsRune(OwnMeta, unicode.ToLower(rune(n)))
}

// A scrubber copies a document without the proxy's own members. It needs only one pass, even if the
// document is deeply nested.
type scrubber struct {
	dst, src []byte
	at       int // offset in src; everything before it has been copied or dropped
	dropped  bool
}

// copy copies the document. It returns false if the document cannot be read.
func (s *scrubber) copy() bool {
	for i := 0; ; {
		from, to, found, readable := ownMember(s.src, i)
		switch {
		case !readable:
			return false
		case found:
			i = s.leaveOut(from, to)
			continue
		case s.dropped:
			s.dst = append(s.dst, s.src[s.at:]...)
		}
		return true
	}
}

// ownMember finds the first of the proxy's own members at or after offset i. It returns the offsets
// of the start of the key and the end of the value. The last result is false if the value, or a
// string before the member, is malformed.
func ownMember(doc []byte, i int) (from, to int, found, readable bool) {
	for i < len(doc) {
		if doc[i] != '"' {
			i++
			continue
		}
		end := rawjson.Skip(doc, i)
		if end < 0 {
			return 0, 0, false, false
		}
		colon := afterSpace(doc, end)
		if colon == len(doc) || doc[colon] != ':' || !ownLiteral(doc[i:end]) {
			i = end
			continue
		}
		to = rawjson.Skip(doc, afterSpace(doc, colon+1))
		return i, to, true, to >= 0
	}
	return 0, 0, false, true
}

func ownLiteral(lit []byte) bool {
	if bytes.IndexByte(lit, '\\') < 0 {
		return isOwn(lit[1 : len(lit)-1])
	}
	name, ok := rawjson.String(lit)
	return !ok || isOwn([]byte(name)) // a name that cannot be decoded might have the prefix
}

// leaveOut skips the member between two offsets, together with one adjacent comma. It returns the
// offset where copying continues.
func (s *scrubber) leaveOut(from, to int) int {
	s.dst = append(s.dst, s.src[s.at:from]...)
	s.dropped = true
	if before := bytes.TrimRight(s.dst, " \t"); bytes.HasSuffix(before, []byte{','}) {
		s.dst = before[:len(before)-1]
	} else if next := afterSpace(s.src, to); next < len(s.src) && s.src[next] == ',' {
		to = next + 1
	}
	s.at = to
	return to
}

func afterSpace(doc []byte, i int) int { return len(doc) - len(bytes.TrimLeft(doc[i:], " \t\r\n")) }
