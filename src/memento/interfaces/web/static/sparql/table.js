// YASGUI's table with cells of its own: theirs are cleaned so often that a thousand rows take seconds, and lose the addresses of URNs.
const escaped = (text) => text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);

export const tablePlugin = (Table, short) =>
  class extends Table {
    getUriLinkFromBinding({ value }, prefixes) {
      const shown = short(value, prefixes);
      const iri = escaped(value);
      const address = /^(https?|urn):/i.test(value) ? iri : "#"; // nothing that a browser would run
      const link = `<a class="iri" data-iri="${iri}" href="${address}">${escaped(shown ?? value)}</a>`;
      return shown || this.persistentConfig.compact ? link : `&lt;${link}&gt;`;
    }

    formatLiteral({ value, datatype, "xml:lang": language }, prefixes) {
      const text = escaped(typeof value === "string" ? value : JSON.stringify(value)); // a triple has no text
      if (this.persistentConfig.compact || !(language || datatype)) return text;
      return `"${text}"<sup>${language ? `@${escaped(language)}` : `^^${this.getUriLinkFromBinding({ value: datatype }, prefixes)}`}</sup>`;
    }
  };
