package gate

import "testing"

func TestHashWantsPlainData(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("something without a JSON form has a fingerprint")
		}
	}()
	hash(func() {})
}
