package spec

import (
	"errors"

	"github.com/petrigate/petrigate/internal/rawjson"
)

// AppendInput appends one of the inputRequests. It always has params: a request
// for roots may do without, and there are clients that cannot read it then.
func AppendInput(dst []byte, key, method string, params []byte) []byte {
	if params == nil {
		params = []byte(`{}`)
	}
	dst = append(rawjson.AppendString(dst, key), `:{"method":`...)
	dst = append(rawjson.AppendString(dst, method), `,"params":`...)
	return append(append(dst, params...), '}')
}

// MaxInputs bounds what is asked for in one round.
const MaxInputs = 64

// An InputRequest is one of the questions of a round.
type InputRequest struct {
	Key    string
	Method string
	Params []byte
}

// InputRequests are those of a result.
func InputRequests(result []byte) (list []InputRequest, err error) {
	requests, ok := rawjson.Member(result, "inputRequests")
	if !ok {
		return nil, nil // it only wants to be asked again
	}
	whole := rawjson.Members(requests, func(key, value []byte, _ int) bool {
		params, _ := rawjson.Member(value, "params")
		list = append(list, InputRequest{string(key), Member(value, "method"), params})
		return len(list) <= MaxInputs
	})
	if !whole {
		return nil, errors.New("its questions cannot be read, or are too many")
	}
	return list, nil
}
