package com.example.shop;

import org.slf4j.LoggerFactory;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** A Spring Boot service for ask.py. */
@SpringBootApplication
@RestController
public class Shop {
  @GetMapping("/")
  String home() {
    var log = LoggerFactory.getLogger(Shop.class);
    log.atInfo().addKeyValue("order", "A-1001").addKeyValue("amount", 42.5).log("order paid");
    log.debug("cache miss");
    log.warn("Jörg said \"hi\"\tto 🎉");
    return "ok\n";
  }

  @GetMapping("/fail")
  String fail() {
    throw new IllegalStateException("card declined");
  }

  public static void main(String[] args) {
    SpringApplication.run(Shop.class, args);
  }
}
