--
-- PostgreSQL database dump
--


-- Dumped from database version 15.18 (Debian 15.18-0+deb12u1)
-- Dumped by pg_dump version 15.18 (Debian 15.18-0+deb12u1)

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: account; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.account (
    id text NOT NULL,
    "accountId" text NOT NULL,
    "providerId" text NOT NULL,
    "userId" text NOT NULL,
    "accessToken" text,
    "refreshToken" text,
    "idToken" text,
    "accessTokenExpiresAt" timestamp with time zone,
    "refreshTokenExpiresAt" timestamp with time zone,
    scope text,
    password text,
    "createdAt" timestamp with time zone NOT NULL,
    "updatedAt" timestamp with time zone NOT NULL
);


--
-- Name: administrators; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.administrators (
    owner text,
    first integer,
    claimed_at bigint
);


--
-- Name: installation; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.installation (
    id text NOT NULL
);


--
-- Name: jobs; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.jobs (
    id text NOT NULL,
    holder text NOT NULL,
    owner text,
    idempotency_key text,
    created_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    finished_at bigint,
    outcome text,
    body text,
    digest text,
    metadata text
);


--
-- Name: kysely_migration; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.kysely_migration (
    name character varying(255) NOT NULL,
    "timestamp" character varying(255) NOT NULL
);


--
-- Name: kysely_migration_lock; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.kysely_migration_lock (
    id character varying(255) NOT NULL,
    is_locked integer DEFAULT 0 NOT NULL
);


--
-- Name: playground_codes; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.playground_codes (
    hash text NOT NULL,
    expires_at bigint NOT NULL
);


--
-- Name: session; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.session (
    id text NOT NULL,
    "expiresAt" timestamp with time zone NOT NULL,
    token text NOT NULL,
    "createdAt" timestamp with time zone NOT NULL,
    "updatedAt" timestamp with time zone NOT NULL,
    "ipAddress" text,
    "userAgent" text,
    "userId" text NOT NULL
);


--
-- Name: tokens; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.tokens (
    id text NOT NULL,
    name text NOT NULL,
    prefix text NOT NULL,
    hash text NOT NULL,
    scopes text NOT NULL,
    created_at bigint NOT NULL,
    expires_at bigint,
    revoked_at bigint,
    owner text,
    session text,
    last_used_at bigint,
    purpose text
);


--
-- Name: usage; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.usage (
    token text NOT NULL,
    date text NOT NULL,
    owner text,
    requests bigint NOT NULL,
    errors bigint NOT NULL,
    audio_ms bigint NOT NULL
);


--
-- Name: user; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public."user" (
    id text NOT NULL,
    name text NOT NULL,
    email text NOT NULL,
    "emailVerified" boolean NOT NULL,
    image text,
    "createdAt" timestamp with time zone NOT NULL,
    "updatedAt" timestamp with time zone NOT NULL
);


--
-- Name: verification; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.verification (
    id text NOT NULL,
    identifier text NOT NULL,
    value text NOT NULL,
    "expiresAt" timestamp with time zone NOT NULL,
    "createdAt" timestamp with time zone NOT NULL,
    "updatedAt" timestamp with time zone NOT NULL
);


--
-- Data for Name: account; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.account VALUES ('CJREC54pzMOzyo5VUsiG3VYchaSkBdLe', 'Q39Ez0DzrgyjBJKzbEMkEqo4HNWw3V6O', 'credential', 'Q39Ez0DzrgyjBJKzbEMkEqo4HNWw3V6O', NULL, NULL, NULL, NULL, NULL, NULL, '3d6c27b5e487aeef72f89c1975864435:5aa7cc8a9bdcc1dad81b71fd501368d020df724a44ce55f85b97208825b4eea986e4e735411d47f43748786ec9bea6b52fab1c59dbf5654d989507377ecd95b2', '2026-11-26 20:31:29.849+00', '2026-11-26 20:31:29.849+00');


--
-- Data for Name: administrators; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.administrators VALUES ('Q39Ez0DzrgyjBJKzbEMkEqo4HNWw3V6O', 1, NULL);


--
-- Data for Name: installation; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.installation VALUES ('4b594eae-0253-4b7a-afc9-bb8403423ef6');


--
-- Data for Name: jobs; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.jobs VALUES ('job_d0QxFbxjRbes9R7Ic8nG', 'account:Q39Ez0DzrgyjBJKzbEMkEqo4HNWw3V6O', 'Q39Ez0DzrgyjBJKzbEMkEqo4HNWw3V6O', 'first', 1795725091307, 1795811491439, 1795725091440, 'done', '{"status":"ok","emotion":{"status":"ok","signals":{"valence":0.1255,"arousal":0.0383,"dominant_emotion":"happy","tone":"neutral","emotions":{"neutral":0.174,"calm":0.0089,"happy":0.714,"sad":0.0001,"angry":0,"fearful":0,"disgusted":0.0003,"surprised":0.1027},"confidence":0.714,"intervals":{"valence":[0.0705,0.1805],"arousal":[0,0.0959]}},"timeline":[{"start_s":0,"end_s":1.13,"valence":0.1515,"arousal":0.025,"dominant_emotion":"happy","emotions":{"neutral":0.3254,"calm":0.0124,"happy":0.4527,"sad":0.0001,"angry":0,"fearful":0,"disgusted":0.0005,"surprised":0.2089},"confidence":0.4527,"intervals":{"valence":[0.0783,0.2246],"arousal":[0,0.1231]},"relative":null},{"start_s":1.59,"end_s":2.9,"valence":0.1031,"arousal":0.0497,"dominant_emotion":"happy","emotions":{"neutral":0.0435,"calm":0.0059,"happy":0.9393,"sad":0.0001,"angry":0,"fearful":0,"disgusted":0.0002,"surprised":0.011},"confidence":0.9393,"intervals":{"valence":[0.0433,0.1629],"arousal":[0,0.1308]},"relative":null}],"moments":[],"relative":null,"warnings":["narrow_band","music_or_noise","short_speech","unlike_training"],"model":{"name":"emotion","version":"1.0.0","features_version":1}},"cognitive":{"status":"ok","signals":{"cognitive_load":0.5039,"clarity":0.7689,"processing":0.4912,"confidence":0.0562,"intervals":{"clarity":[0.6422,0.8955],"cognitive_load":[0.1222,0.8882],"processing":[0.1098,0.8758]}},"measures":{"pause_ratio":{"value":0.1586,"unit":"ratio"},"pause_rate":{"value":20.6897,"unit":"1/min"},"mean_pause":{"value":0.46,"unit":"s"},"long_pause_rate":{"value":0,"unit":"1/min"},"mean_run":{"value":1.22,"unit":"s"},"mean_run_syllables":{"value":3.0179,"unit":"syllables"},"articulation_rate":{"value":2.4737,"unit":"syllables/s"},"speech_rate":{"value":2.0813,"unit":"syllables/s"},"pitch_level":{"value":29.521,"unit":"semitones re 27.5 Hz"},"pitch_range":{"value":4.9091,"unit":"semitones"},"level_range":{"value":13.788,"unit":"dB"},"spectral_tilt":{"value":-9.2797,"unit":"dB/octave"},"hesitation_rate":{"value":20.6897,"unit":"1/min","validated":false}},"contributions":{"cognitive_load":[{"measure":"pause_ratio","value":0.1586,"effect":-0.0057,"source":"Khawaja, Ruiz & Chen 2008"},{"measure":"mean_run","value":1.22,"effect":0.0096,"source":"Betz et al. 2023, Languages 8:71"}],"processing":[{"measure":"mean_run","value":1.22,"effect":-0.012,"source":"Betz et al. 2023, Languages 8:71"},{"measure":"pause_ratio","value":0.1586,"effect":0.0032,"source":"Khawaja, Ruiz & Chen 2008"}]},"reference":0.5,"relative":false,"warnings":["narrow_band","music_or_noise","short_speech","insufficient_speech_cognitive"],"model":{"name":"cognitive","version":"1.0.0","features_version":1}},"audio":{"duration_s":3.6998,"speech_s":2.44,"container":"wav","codec":"pcm_mulaw","sample_rate_hz":8000,"channels":1,"snr_db":18.1,"level_dbfs":-19.4,"clipped_ratio":0,"bandwidth_hz":3956},"segments":[{"type":"speech","start_s":0,"end_s":1.13},{"type":"pause","start_s":1.13,"end_s":1.59},{"type":"speech","start_s":1.59,"end_s":2.9},{"type":"pause","start_s":2.9,"end_s":3.6998}],"request_id":"job_d0QxFbxjRbes9R7Ic8nG","receipt":{"version":1,"issued_at":"2026-11-26T20:31:31.435Z","purpose":"tests of upgrades","key_id":"bac456a7f93f103a","upload_sha256":"06de679745a4c179c688bca53b906c57dcf97636018804d6d1e6b2b5c2814f92","baselines_sha256":[],"segments_sha256":null,"samples_sha256":["daf56ec3c4e06e9fd857eb7aea522971c0f73c2e025d06ea6b4a3b60bce3b6c7"],"report_sha256":"0a6e695012e1560138f432984001e2997b40aa3b070f42ff75a1dcd046f50714","options":{"signals":["emotion","cognitive"],"channel":null,"channels":null,"speakers":null},"scores":[{"emotion":{"valence":0.1255,"arousal":0.0383,"dominant_emotion":"happy","tone":"neutral","emotions":{"neutral":0.174,"calm":0.0089,"happy":0.714,"sad":0.0001,"angry":0,"fearful":0,"disgusted":0.0003,"surprised":0.1027},"confidence":0.714,"intervals":{"valence":[0.0705,0.1805],"arousal":[0,0.0959]}},"cognitive":{"cognitive_load":0.5039,"clarity":0.7689,"processing":0.4912,"confidence":0.0562,"intervals":{"clarity":[0.6422,0.8955],"cognitive_load":[0.1222,0.8882],"processing":[0.1098,0.8758]}}}],"software":{"undertone":"1.0.0","node":"20.20.2","addon_sha256":"b9259b0838acef8ebbd4d1991524000c02e178aa6bb5fc3141e1ce604b187f97","features_version":1,"models":[{"name":"cognitive","version":"1.0.0","sha256":"8099601ad1ab774bff116430823afebda9508a7231f95a23f1efe5574570cad2"},{"name":"emotion","version":"1.0.0","sha256":"ac604c038479f79a11f619be5eafaab17201cdde7e8fc557bce940e38331e157"},{"name":"trunk","version":"1.0.0","sha256":"fdea8a75a5932b7503e7830ceb32090ac46c26dd8c6604987439eacad1773000"},{"name":"vad","version":"1.0.0","sha256":"c4ccb6ecb32a0c9758944a44880e553a03e0a8d5520481c595231c4911f836b8"}],"libraries":{"libavformat":"59.27.100","libavcodec":"59.37.100","libavutil":"57.28.100","soxr":"0.1.3","onnxruntime":"1.30.0"},"kernel":{"architecture":"x64","lanes":16,"exact_int8":true}},"signature":"4av8lhftrTK4G61LiIhoesMy+JmNo2pAwk/VgtwdbJx0yhVGBX5/rx/QF0LKsdSO8RJYTsoLSR9mkSeW2NtKAA=="}}', 'a04693cf0dfcc7aa3ec54b3bfe6e03adb3c6bcd7148367925394010f27c4aa94', 'v8HOrpsCGJgC5O4rsum86PNVx8id7BuJ/S4oei7HpE/Ynq2RdcXeSN7mqQ==');
INSERT INTO public.jobs VALUES ('job_5Xjo6cxSksgInkeQP5qV', 'account:Q39Ez0DzrgyjBJKzbEMkEqo4HNWw3V6O', 'Q39Ez0DzrgyjBJKzbEMkEqo4HNWw3V6O', 'second', 1795725091764, 1795833091764, NULL, NULL, NULL, 'cb8e7558564936df351ed8d01960bc2401cfc1b2cf852eed1ff441fe768c7fac', 'FF39oCA9G2IGIx9k+qhD553nW6Tz+uGcQMNuJeSpegmryyFSQoymJ8fxRSw=');


--
-- Data for Name: kysely_migration; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.kysely_migration VALUES ('0001-schema', '2026-11-26T20:31:29.413Z');


--
-- Data for Name: kysely_migration_lock; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.kysely_migration_lock VALUES ('migration_lock', 0);


--
-- Data for Name: playground_codes; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: session; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.session VALUES ('XWEEpCUWROJj3JOR35JbOstwApaSjWi8', '2026-12-03 20:31:29.865+00', 'hMl25sfiDb04J1oyRCKm4DTDNgTXsULl', '2026-11-26 20:31:29.865+00', '2026-11-26 20:31:29.865+00', '', '', 'Q39Ez0DzrgyjBJKzbEMkEqo4HNWw3V6O');


--
-- Data for Name: tokens; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.tokens VALUES ('tok_APPZPRPjDqH1', 'recorded', 'ut_2Hkd', '519321711283111437d3c72ec657ce47ab439b465fcaf456dc245d9554979f85', 'analyze:emotion analyze:cognitive', 1795725089958, NULL, NULL, 'Q39Ez0DzrgyjBJKzbEMkEqo4HNWw3V6O', NULL, 1795725060000, 'tests of upgrades');


--
-- Data for Name: usage; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.usage VALUES ('tok_APPZPRPjDqH1', '2026-11-26', 'Q39Ez0DzrgyjBJKzbEMkEqo4HNWw3V6O', 6, 0, 7400);


--
-- Data for Name: user; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public."user" VALUES ('Q39Ez0DzrgyjBJKzbEMkEqo4HNWw3V6O', '', 'recorded@example.org', false, NULL, '2026-11-26 20:31:29.84+00', '2026-11-26 20:31:29.84+00');


--
-- Data for Name: verification; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Name: account account_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.account
    ADD CONSTRAINT account_pkey PRIMARY KEY (id);


--
-- Name: administrators administrators_first_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.administrators
    ADD CONSTRAINT administrators_first_key UNIQUE (first);


--
-- Name: administrators administrators_owner_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.administrators
    ADD CONSTRAINT administrators_owner_key UNIQUE (owner);


--
-- Name: installation installation_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.installation
    ADD CONSTRAINT installation_pkey PRIMARY KEY (id);


--
-- Name: jobs jobs_idempotency_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.jobs
    ADD CONSTRAINT jobs_idempotency_key UNIQUE (holder, idempotency_key);


--
-- Name: jobs jobs_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.jobs
    ADD CONSTRAINT jobs_pkey PRIMARY KEY (id);


--
-- Name: kysely_migration_lock kysely_migration_lock_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.kysely_migration_lock
    ADD CONSTRAINT kysely_migration_lock_pkey PRIMARY KEY (id);


--
-- Name: kysely_migration kysely_migration_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.kysely_migration
    ADD CONSTRAINT kysely_migration_pkey PRIMARY KEY (name);


--
-- Name: playground_codes playground_codes_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.playground_codes
    ADD CONSTRAINT playground_codes_pkey PRIMARY KEY (hash);


--
-- Name: session session_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.session
    ADD CONSTRAINT session_pkey PRIMARY KEY (id);


--
-- Name: session session_token_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.session
    ADD CONSTRAINT session_token_key UNIQUE (token);


--
-- Name: tokens tokens_hash_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.tokens
    ADD CONSTRAINT tokens_hash_key UNIQUE (hash);


--
-- Name: tokens tokens_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.tokens
    ADD CONSTRAINT tokens_pkey PRIMARY KEY (id);


--
-- Name: usage usage_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.usage
    ADD CONSTRAINT usage_pkey PRIMARY KEY (token, date);


--
-- Name: user user_email_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public."user"
    ADD CONSTRAINT user_email_key UNIQUE (email);


--
-- Name: user user_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public."user"
    ADD CONSTRAINT user_pkey PRIMARY KEY (id);


--
-- Name: verification verification_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.verification
    ADD CONSTRAINT verification_pkey PRIMARY KEY (id);


--
-- Name: account_userId_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "account_userId_idx" ON public.account USING btree ("userId");


--
-- Name: jobs_expires_at_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX jobs_expires_at_idx ON public.jobs USING btree (expires_at);


--
-- Name: jobs_holder_created_at_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX jobs_holder_created_at_idx ON public.jobs USING btree (holder, created_at, id);


--
-- Name: jobs_owner_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX jobs_owner_idx ON public.jobs USING btree (owner);


--
-- Name: session_userId_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "session_userId_idx" ON public.session USING btree ("userId");


--
-- Name: tokens_live_name; Type: INDEX; Schema: public; Owner: -
--

CREATE UNIQUE INDEX tokens_live_name ON public.tokens USING btree (COALESCE(owner, ''::text), name) WHERE ((revoked_at IS NULL) AND (session IS NULL));


--
-- Name: tokens_owner_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX tokens_owner_idx ON public.tokens USING btree (owner);


--
-- Name: tokens_session_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX tokens_session_idx ON public.tokens USING btree (session);


--
-- Name: usage_date_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX usage_date_idx ON public.usage USING btree (date);


--
-- Name: usage_owner_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX usage_owner_idx ON public.usage USING btree (owner);


--
-- Name: verification_identifier_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX verification_identifier_idx ON public.verification USING btree (identifier);


--
-- Name: account account_userId_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.account
    ADD CONSTRAINT "account_userId_fkey" FOREIGN KEY ("userId") REFERENCES public."user"(id) ON DELETE CASCADE;


--
-- Name: administrators administrators_owner_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.administrators
    ADD CONSTRAINT administrators_owner_fkey FOREIGN KEY (owner) REFERENCES public."user"(id) ON DELETE SET NULL;


--
-- Name: jobs jobs_owner_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.jobs
    ADD CONSTRAINT jobs_owner_fkey FOREIGN KEY (owner) REFERENCES public."user"(id) ON DELETE CASCADE;


--
-- Name: session session_userId_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.session
    ADD CONSTRAINT "session_userId_fkey" FOREIGN KEY ("userId") REFERENCES public."user"(id) ON DELETE CASCADE;


--
-- Name: tokens tokens_owner_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.tokens
    ADD CONSTRAINT tokens_owner_fkey FOREIGN KEY (owner) REFERENCES public."user"(id) ON DELETE CASCADE;


--
-- Name: tokens tokens_session_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.tokens
    ADD CONSTRAINT tokens_session_fkey FOREIGN KEY (session) REFERENCES public.session(id) ON DELETE CASCADE;


--
-- Name: usage usage_owner_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.usage
    ADD CONSTRAINT usage_owner_fkey FOREIGN KEY (owner) REFERENCES public."user"(id) ON DELETE CASCADE;


--
-- PostgreSQL database dump complete
--


