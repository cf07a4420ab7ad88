package folder

import "testing"

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"name":"a","description":"d","code":"a.js","enabled":false}`))
	f.Add([]byte(`{"name":"a","grant":{"net":"any","call":["b"]},"limits":{"timeout_ms":1},"body":"return 1"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		e, err := parse(text)
		if err == nil && e.Body != "" && e.Code != "" {
			t.Fatal("both a body and a code file")
		}
	})
}
