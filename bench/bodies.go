package bench

// Body is one of the four bodies that every way of running tools is measured with. They do what
// the bodies in the shared peers folder do, so that a table of ratios compares like with like.
type Body struct {
	Name string
	Code string
	Args string
}

// Bodies lists them, cheapest first.
func Bodies() []Body {
	return []Body{
		{"trivial", `return { sum: args.a + args.b }`, `{"a":1,"b":2}`},
		{"json", `const list = Array.from({ length: args.n }, (_, i) => ({ id: i, name: "user" + i, email: "u" + i + "@example.com", tags: ["a", "b", String(i)] }));
const copy = JSON.parse(JSON.stringify(list));
return { len: copy.filter(x => x.id % 2).map(x => x.name.toUpperCase()).join(",").length }`, `{"n":2000}`},
		{"text", `let n = 0;
const s = "on 2026-01-02 and 2027-11-30 we met; ".repeat(args.n);
for (const m of s.matchAll(/(?<y>\d{4})-(?<m>\d\d)-(?<d>\d\d)/g)) n += Number(m.groups.d);
return { n, words: s.split(/\W+/).length }`, `{"n":500}`},
		{"cpu", `const fib = n => n < 2 ? n : fib(n - 1) + fib(n - 2);
return { v: fib(args.n) }`, `{"n":27}`},
	}
}
