package hook

import (
	"github.com/petrigate/petrigate/internal/rawjson"
)

func text(body []byte, key string) string {
	value, _ := rawjson.Member(body, key)
	s, _ := rawjson.String(value)
	return s
}

func memberOf(object []byte, key string) []byte {
	value, _ := rawjson.Member(object, key)
	return value
}
