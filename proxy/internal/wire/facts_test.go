package wire

import "testing"

func TestAppendHonest(t *testing.T) {
	for _, tt := range []struct{ result, want string }{
		{`{"a":1.0,"_meta":{"own":1.0,"io.petrigate/decision":{"kind":"x"}}}`, `{"a":1.0,"_meta":{"own":1.0}}`},
		{`{"_meta":{"io.petrigate\u002fx":1,"io.petrigate/y":2, "own" : 1 },"a":1.0}`, `{"_meta":{ "own" : 1 },"a":1.0}`},
		{`{"_meta":{"io.petrigate/x":1}}`, `{"_meta":{}}`},
		{`{"_meta":{"own":1},"_met\u0061":{"io.petrigate/x":1},"a":1}`, `{"a":1}`},
	} {
		if !ResultFacts([]byte(tt.result)).Forged {
			t.Errorf("%s is taken for honest", tt.result)
		}
		if got := string(AppendHonest(nil, []byte(tt.result))); got != tt.want || ResultFacts([]byte(got)).Forged {
			t.Errorf("%s: got %s, want %s", tt.result, got, tt.want)
		}
	}
	for _, result := range []string{`{}`, `{"_meta":{"io.petrigat":1,"xio.petrigate/":2,"io":{"io.petrigate/x":1}}}`, `{"io.petrigate/decision":1}`, `{"_meta":["io.petrigate/decision"]}`} {
		if ResultFacts([]byte(result)).Forged {
			t.Errorf("%s is taken for forged", result)
		}
	}
}
