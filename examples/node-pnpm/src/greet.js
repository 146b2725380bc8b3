import ms from 'ms'

export function greet(name) {
  return `Hello, ${name}!`
}

/** How long ago somebody was greeted: greetedAgo(90000) is "2m ago". */
export function greetedAgo(milliseconds) {
  return `${ms(milliseconds)} ago`
}
