package spec

import (
	"errors"

	"github.com/petrigate/petrigate/internal/rawjson"
)

// Member returns the value of an object's member if the value is a string. Otherwise, it returns
// "".
func Member(obj []byte, key string) string {
	v, _ := rawjson.Member(obj, key)
	s, _ := rawjson.String(v)
	return s
}

// Declares reports whether the capabilities contain an object at the path of the given keys.
func Declares(capabilities []byte, keys ...string) bool {
	value, ok := rawjson.MemberAt(capabilities, keys...)
	return ok && rawjson.Kind(value) == '{'
}

// AppendInput appends an entry of inputRequests to dst. The entry always contains params:
// roots/list does not need them, but some clients cannot read an entry without params.
func AppendInput(dst []byte, key, method string, params []byte) []byte {
	if params == nil {
		params = []byte(`{}`)
	}
	dst = append(rawjson.AppendString(dst, key), ':')
	return append(dst, rawjson.Object{}.String("method", method).Raw("params", params).Bytes()...)
}

// MaxInputs is the maximum number of inputRequests in a result.
const MaxInputs = 64

// An InputRequest is an entry in the inputRequests of a result.
type InputRequest struct {
	Key    string
	Method string
	Params []byte
}

// InputRequests returns the inputRequests of a result. If the result has no such member, the list
// is empty.
func InputRequests(result []byte) (list []InputRequest, err error) {
	requests, ok := rawjson.Member(result, "inputRequests")
	if !ok {
		return nil, nil // the server only wants the request to be sent again
	}
	whole := rawjson.Members(requests, func(key, value []byte, _ int) bool {
		params, _ := rawjson.Member(value, "params")
		list = append(list, InputRequest{string(key), Member(value, "method"), params})
		return len(list) <= MaxInputs
	})
	if !whole {
		return nil, errors.New("its questions are invalid or too many")
	}
	return list, nil
}
