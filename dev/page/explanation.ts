/** What the page says about itself: the templates of index.html. */

export const explanation = (id: 'introduction' | 'questions' | 'reference'): Node =>
  document.importNode((document.getElementById(id) as HTMLTemplateElement).content, true);
