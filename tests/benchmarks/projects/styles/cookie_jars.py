"""Several sessions at once by `cookiejar`: each logs in by its own form, one with a wrong password."""

import scrapy


class JarSpider(scrapy.Spider):
    name = "jars"

    async def start(self):
        for jar in range(3):
            yield scrapy.Request(f"{self.site}/login?jar={jar}", meta={"cookiejar": jar})

    def parse(self, response):
        jar = response.meta["cookiejar"]
        word = "wrong" if jar == 1 else "secret"
        yield scrapy.FormRequest.from_response(
            response,
            formdata={"user": "me", "password": word},
            meta={"cookiejar": jar},
            callback=self.after_login,
            dont_filter=True,
        )

    def after_login(self, response):
        jar = response.meta["cookiejar"]
        yield {"jar": jar, "denied": bool(response.css("p.denied"))}
        for link in response.css("a::attr(href)").getall():
            yield response.follow(f"{link}?jar={jar}", self.parse_page, meta={"cookiejar": jar})

    def parse_page(self, response):
        secret = response.css("p.secret::text").get()
        yield {"jar": response.meta["cookiejar"], "secret": secret}
