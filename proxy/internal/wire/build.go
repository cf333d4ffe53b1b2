package wire

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"github.com/petrigate/petrigate/internal/rawjson"
)

// These functions append a message, or a part of one, as a single line without a trailing line
// break. Their arguments must not contain line breaks. IDs are JSON; a nil ID is written as null.

// AppendRequest appends a request. params may be nil.
func AppendRequest(dst, id []byte, method string, params []byte) []byte {
	return appendMethod(appendID(dst, id), method, params)
}

// AppendRequestInt is like [AppendRequest] with an integer ID.
func AppendRequestInt(dst []byte, id int64, method string, params []byte) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	return appendMethod(strconv.AppendInt(dst, id, 10), method, params)
}

// AppendNotification appends a notification. params may be nil.
func AppendNotification(dst []byte, method string, params []byte) []byte {
	return appendMethod(append(dst, `{"jsonrpc":"2.0"`...), method, params)
}

// IsNotification reports whether the message was built by [AppendNotification].
func IsNotification(message []byte) bool {
	return bytes.HasPrefix(message, []byte(`{"jsonrpc":"2.0","method":`))
}

func appendMethod(dst []byte, method string, params []byte) []byte {
	dst = append(dst, `,"method":`...)
	dst = rawjson.AppendString(dst, method)
	if params != nil {
		dst = append(append(dst, `,"params":`...), params...)
	}
	return append(dst, '}')
}

func appendID(dst, id []byte) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	if id == nil {
		return append(dst, "null"...)
	}
	return append(dst, id...)
}

// ResultHead returns the part of a response that precedes the result. [Tail] is the part that
// follows it. With both, a large result can be written without copying it.
func ResultHead(id []byte) []byte {
	return append(appendID(make([]byte, 0, 48+len(id)), id), `,"result":`...)
}

// ErrorHead returns the part of a response that precedes the error object.
func ErrorHead(id []byte) []byte {
	return append(appendID(make([]byte, 0, 48+len(id)), id), `,"error":`...)
}

// Tail is the end of a response that begins with [ResultHead] or [ErrorHead]. It must not be
// modified.
var Tail = []byte("}")

// AppendResult appends a response that contains a result.
func AppendResult(dst, id, result []byte) []byte {
	dst = append(appendID(dst, id), `,"result":`...)
	return append(append(dst, result...), '}')
}

// AppendError appends a response that contains an error. data may be nil.
func AppendError(dst, id []byte, code int, message string, data []byte) []byte {
	dst = append(appendID(dst, id), `,"error":{"code":`...)
	dst = strconv.AppendInt(dst, int64(code), 10)
	dst = append(dst, `,"message":`...)
	dst = rawjson.AppendString(dst, message)
	if data != nil {
		dst = append(append(dst, `,"data":`...), data...)
	}
	return append(dst, "}}"...)
}

// AppendText appends a text content block.
func AppendText(dst []byte, text string) []byte {
	dst = append(dst, `{"type":"text","text":`...)
	return append(rawjson.AppendString(dst, text), '}')
}

// AppendToolError appends the result of a failed tool call. It consists of one text block, which is
// all that a model sees, and of the _meta object meta, which is for programs and may be nil. If
// typed is true, AppendToolError adds resultType "complete".
func AppendToolError(dst []byte, text string, meta []byte, typed bool) []byte {
	dst = append(dst, `{"content":[`...)
	dst = append(AppendText(dst, text), `],"isError":true`...)
	if typed {
		dst = append(dst, `,"resultType":"complete"`...)
	}
	if meta != nil {
		dst = append(append(dst, `,"_meta":`...), meta...)
	}
	return append(dst, '}')
}

// Digest returns the SHA-256 hash of b in the hexadecimal form that is used in names and records.
func Digest(b []byte) string {
	sum := sha256.Sum256(b)
	return string(hex.AppendEncode(make([]byte, 0, 2*len(sum)), sum[:]))
}
