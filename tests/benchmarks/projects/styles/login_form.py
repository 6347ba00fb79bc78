"""FormRequest.from_response: a login by form and cookie, then pages behind it."""

import scrapy


class LoginSpider(scrapy.Spider):
    name = "login"

    def __init__(self, site, **kwargs):
        super().__init__(**kwargs)
        self.start_urls = [f"{site}/login"]

    def parse(self, response):
        return scrapy.FormRequest.from_response(
            response, formdata={"user": "me", "password": "secret"}, callback=self.after_login
        )

    def after_login(self, response):
        if response.css("p.denied"):
            self.logger.error("Login failed")
            return
        yield {"secret": response.css("p.secret::text").get()}
        for link in response.css("a::attr(href)").getall():
            yield response.follow(link, self.after_login)
